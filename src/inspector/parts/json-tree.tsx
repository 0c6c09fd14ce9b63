import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'

interface TreeProps {
  value: unknown
  /** The accessible name. */
  label: string
  /** A value to compare `value` with. The lines in which the two values differ are marked. */
  other?: unknown
}

/** The number of entries that an open list or object shows at first. */
const INITIAL_ENTRIES = 50
/** Lists and objects at this nesting depth or deeper start collapsed. */
const OPEN_DEPTH = 5

/**
 * A JSON value whose lists and objects can be collapsed. If the whole value is a string, it is
 * shown as plain text.
 */
export function JsonTree({ value, label, other }: TreeProps) {
  return (
    <div class="card json" role="group" aria-label={label} tabIndex={0} dir="ltr">
      {typeof value === 'string' ? (
        value
      ) : (
        <Node value={value} other={other} isCompared={other !== undefined} depth={0} comma="" />
      )}
    </div>
  )
}

interface NodeProps {
  value: unknown
  /** The field's name; undefined for the root value and for list entries. */
  name?: string | undefined
  depth: number
  /** The text after the value: a comma, or an empty string after the last entry. */
  comma: string
  other: unknown
  isCompared: boolean
}

function Node(props: NodeProps) {
  const entries = entriesOf(props.value)
  return entries ? <Collection {...props} entries={entries} /> : <Scalar {...props} />
}

function Scalar({ value, name, depth, comma, other, isCompared }: NodeProps) {
  return (
    <Line depth={depth} isDifferent={isCompared && value !== other}>
      <FieldName name={name} />
      <bdi class={`toned is-${typeof value === 'string' ? 'good' : 'warn'}`}>
        {JSON.stringify(value)}
      </bdi>
      {comma}
    </Line>
  )
}

interface CollectionProps extends NodeProps {
  entries: readonly [string, unknown][]
}

function Collection({ entries, value, name, depth, comma, other, isCompared }: CollectionProps) {
  const [isOpen, setOpen] = useState(depth < OPEN_DEPTH)
  const isList = Array.isArray(value)
  const opening = isList ? '[' : '{'
  const closing = `${isList ? ']' : '}'}${comma}`
  const isSameKind = entriesOf(other) !== undefined
  const isDifferent = isCompared && !isSameKind
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
      <Line depth={depth} isDifferent={isDifferent}>
        <FieldName name={name} />
        {opening}
        {entries.length > 0 && toggle}
        {closing}
      </Line>
    )
  }
  return (
    <>
      <Line depth={depth} isDifferent={isDifferent}>
        <FieldName name={name} />
        {depth === 0 ? opening : toggle}
      </Line>
      <Entries
        entries={entries}
        isList={isList}
        depth={depth + 1}
        other={other}
        isCompared={isCompared && isSameKind}
        isDifferent={isDifferent}
      />
      <Line depth={depth} isDifferent={isDifferent}>
        {closing}
      </Line>
    </>
  )
}

interface EntriesProps extends Pick<CollectionProps, 'entries' | 'depth' | 'other' | 'isCompared'> {
  isList: boolean
  isDifferent: boolean
}

function Entries({ entries, isList, depth, other, isCompared, isDifferent }: EntriesProps) {
  const [count, setCount] = useState(INITIAL_ENTRIES)
  return (
    <>
      {entries.slice(0, count).map(([key, value], index) => (
        <Node
          key={key}
          value={value}
          name={isList ? undefined : key}
          depth={depth}
          comma={index === entries.length - 1 ? '' : ','}
          other={Object(other)[key]}
          isCompared={isCompared}
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

interface LineProps {
  depth: number
  isDifferent: boolean
  children: ComponentChildren
}

function Line({ depth, isDifferent, children }: LineProps) {
  return (
    <div
      class={isDifferent ? 'json-line is-different is-warn' : 'json-line'}
      style={{ '--depth': depth }}
    >
      {children}
    </div>
  )
}

function FieldName({ name }: { name: string | undefined }) {
  if (name === undefined) return null
  return <span class="key toned is-accent">{JSON.stringify(name)}: </span>
}

const entriesOf = (value: unknown) =>
  typeof value === 'object' && value !== null ? Object.entries(value) : undefined
