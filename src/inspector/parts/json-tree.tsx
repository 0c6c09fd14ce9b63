import type { ComponentChildren } from 'preact'
import { createContext } from 'preact'
import { useContext, useMemo, useState } from 'preact/hooks'
import {
  type DifferenceKind,
  entriesOf,
  isCollection,
  type JsonDifferences,
  pathOf,
  ROOT_PATH
} from './compare-json.js'

/** The differences that a tree marks. */
interface Marks extends Pick<JsonDifferences, 'kinds'> {
  /** The path of the difference that the user has jumped to. */
  current?: string | undefined
}

interface TreeProps {
  value: unknown
  /** The accessible name. */
  label: string
  /** The differences from another value. */
  marks?: Marks
}

/** The number of entries that an open list or object shows at first. */
const INITIAL_ENTRIES = 50
/** Lists and objects at this nesting depth or deeper start collapsed. */
const OPEN_DEPTH = 5

const NO_MARKS: Marks = { kinds: new Map() }

interface KnownMarks extends Marks {
  /** The paths of all lists and objects that contain a difference. */
  parents: ReadonlySet<string>
}

const MarksContext = createContext<KnownMarks>({ ...NO_MARKS, parents: new Set() })

/**
 * A JSON value whose lists and objects can be collapsed. If the whole value is a string, it is
 * shown as plain text. Lists and objects with differences start open.
 */
export function JsonTree({ value, label, marks = NO_MARKS }: TreeProps) {
  const { kinds, current } = marks
  const parents = useMemo(() => parentsOf(kinds.keys()), [kinds])
  return (
    <MarksContext.Provider value={{ kinds, current, parents }}>
      <div class="card json" role="group" aria-label={label} tabIndex={0} dir="ltr">
        {typeof value === 'string' ? (
          <Line path={ROOT_PATH} depth={0} isDifferent={marks.kinds.has(ROOT_PATH)}>
            {value}
          </Line>
        ) : (
          <Node value={value} path={ROOT_PATH} depth={0} comma="" isDifferent={false} />
        )}
      </div>
    </MarksContext.Provider>
  )
}

interface NodeProps {
  value: unknown
  /** The field's name; undefined for the root value and for list entries. */
  name?: string | undefined
  path: string
  depth: number
  /** The text after the value: a comma, or an empty string after the last entry. */
  comma: string
  /** Whether the value is part of a list or an object that is marked as a whole. */
  isDifferent: boolean
}

function Node({ isDifferent, ...props }: NodeProps) {
  const kind = useContext(MarksContext).kinds.get(props.path)
  const { value } = props
  const isMarked = isDifferent || kind === 'value'
  return isCollection(value) ? (
    <Collection {...props} value={value} isDifferent={isMarked} kind={kind} />
  ) : (
    <Scalar {...props} isDifferent={isMarked} />
  )
}

function Scalar({ value, name, comma, ...line }: NodeProps) {
  return (
    <Line {...line}>
      <FieldName name={name} />
      <bdi class={`toned is-${typeof value === 'string' ? 'good' : 'warn'}`}>
        {JSON.stringify(value)}
      </bdi>
      {comma}
    </Line>
  )
}

interface CollectionProps extends NodeProps {
  value: object
  kind: DifferenceKind | undefined
}

function Collection({ value, name, path, depth, comma, isDifferent, kind }: CollectionProps) {
  const { parents } = useContext(MarksContext)
  const [isOpen, setOpen] = useState(depth < OPEN_DEPTH || parents.has(path))
  const entries = entriesOf(value)
  const isList = Array.isArray(value)
  const opening = isList ? '[' : '{'
  const closing = `${isList ? ']' : '}'}${comma}`
  const firstLine = { path, depth, isDifferent: isDifferent || kind !== undefined }
  const toggle = (
    <button
      aria-expanded={isOpen}
      title={isOpen ? 'Collapse' : 'Expand'}
      onClick={() => setOpen(!isOpen)}
    >
      {isOpen ? opening : `… ${entries.length.toLocaleString()}`}
    </button>
  )
  if (entries.length === 0 || !isOpen) {
    return (
      <Line {...firstLine}>
        <FieldName name={name} />
        {opening}
        {entries.length > 0 && toggle}
        {closing}
      </Line>
    )
  }
  return (
    <>
      <Line {...firstLine}>
        <FieldName name={name} />
        {depth === 0 ? opening : toggle}
        {kind === 'order' && <span class="muted"> in a different order</span>}
      </Line>
      <Entries
        entries={entries}
        isList={isList}
        path={path}
        depth={depth + 1}
        isDifferent={isDifferent}
      />
      <Line depth={depth} isDifferent={isDifferent}>
        {closing}
      </Line>
    </>
  )
}

interface EntriesProps extends Pick<NodeProps, 'path' | 'depth' | 'isDifferent'> {
  entries: readonly [key: string, value: unknown][]
  isList: boolean
}

function Entries({ entries, isList, path, depth, isDifferent }: EntriesProps) {
  const { kinds, parents } = useContext(MarksContext)
  const [count, setCount] = useState(() => {
    const lastDifferent = entries.findLastIndex(([key]) => {
      const entryPath = pathOf(path, key)
      return kinds.has(entryPath) || parents.has(entryPath)
    })
    return Math.max(INITIAL_ENTRIES, lastDifferent + 1)
  })
  return (
    <>
      {entries.slice(0, count).map(([key, value], index) => (
        <Node
          key={key}
          value={value}
          name={isList ? undefined : key}
          path={pathOf(path, key)}
          depth={depth}
          comma={index === entries.length - 1 ? '' : ','}
          isDifferent={isDifferent}
        />
      ))}
      {entries.length > count && (
        <Line depth={depth} isDifferent={isDifferent}>
          <button onClick={() => setCount(count * 4)}>… {entries.length - count} more</button>
        </Line>
      )}
    </>
  )
}

/** Returns the paths of all lists and objects that contain a value at one of the paths. */
function parentsOf(paths: Iterable<string>): Set<string> {
  const parents = new Set<string>()
  for (const path of paths) {
    let parent = path
    while (parent !== ROOT_PATH) {
      parent = parent.slice(0, parent.lastIndexOf('/'))
      parents.add(parent)
    }
  }
  return parents
}

interface LineProps {
  /** The path of the value that starts on this line. */
  path?: string
  depth: number
  isDifferent: boolean
  children: ComponentChildren
}

function Line({ path, depth, isDifferent, children }: LineProps) {
  const { current } = useContext(MarksContext)
  const isCurrent = path !== undefined && path === current
  return (
    <div
      class={isDifferent ? 'json-line is-different is-warn' : 'json-line'}
      style={{ '--depth': depth }}
      aria-current={isCurrent ? 'true' : undefined}
    >
      {children}
    </div>
  )
}

function FieldName({ name }: { name: string | undefined }) {
  if (name === undefined) return null
  return <span class="key toned is-accent">{JSON.stringify(name)}: </span>
}
