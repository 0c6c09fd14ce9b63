import { useState } from 'preact/hooks'

interface TreeProps {
  value: unknown
  /** What it is, for who can't see it. */
  label: string
  /** What to compare with: lines of what differs are marked. */
  other?: unknown
}

/** Entries of a list or an object that are shown at first, and that each press of the button adds. */
const SHOWN = 50
/** Deeper ones are closed at first when they have more than so many entries. */
const OPEN_DEPTH = 4
/** Characters of a text that are shown at first. */
const MAX_TEXT = 2000

/** A value as JSON, whose lists and objects open and close; a text that is no JSON as it is. */
export function JsonTree({ value, label, ...compared }: TreeProps) {
  return (
    <div class="card json" role="group" aria-label={label} tabIndex={0} dir="ltr">
      {typeof value === 'string' ? (
        <Text text={value} />
      ) : (
        <Node value={value} depth={0} isLast isCompared={'other' in compared} other={compared.other} />
      )}
    </div>
  )
}

/** Returns the JSON of a text, or the text where it is none. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** Returns the value that the beginning of a JSON text tells, as far as it goes; or the text where it is none. */
export function parsedBeginning(text: string): unknown {
  const closing: string[] = []
  let [end, ending, isInString] = [0, '', false]
  for (let index = 0; index < text.length; index += 1) {
    const character = text.charAt(index)
    if (isInString && character === '\\') index += 1
    else if (character === '"') isInString = !isInString
    else if (isInString) continue
    else if (character === '{') closing.unshift('}')
    else if (character === '[') closing.unshift(']')
    else if (character === ',' || character === '}' || character === ']') {
      if (character !== ',') closing.shift()
      end = character === ',' ? index : index + 1
      ending = closing.join('')
    }
  }
  const value = parsed(text.slice(0, end) + ending)
  return typeof value === 'object' ? value : text
}

interface NodeProps {
  value: unknown
  name?: string
  depth: number
  isLast: boolean
  isCompared: boolean
  other: unknown
}

function Node({ value, name, depth, isLast, isCompared, other }: NodeProps) {
  const entries = entriesOf(value)
  const [isOpen, setOpen] = useState(depth < OPEN_DEPTH || (entries?.length ?? 0) <= 3)
  const [count, setCount] = useState(SHOWN)
  const otherEntries = new Map(entriesOf(other))
  const isDifferent = isCompared && (entries ? entriesOf(other) === undefined : value !== other)
  const key = name !== undefined && (
    <>
      <span class="key">{JSON.stringify(name)}</span>:{' '}
    </>
  )
  const line = (depthOfLine: number) => ({
    class: isDifferent ? 'json-line is-different' : 'json-line',
    style: { '--depth': depthOfLine }
  })
  const comma = isLast ? '' : ','
  if (!entries) {
    return (
      <div {...line(depth)}>
        {key}
        <Scalar value={value} />
        {comma}
      </div>
    )
  }
  const [opening, closing] = Array.isArray(value) ? '[]' : '{}'
  if (entries.length === 0 || !isOpen) {
    return (
      <div {...line(depth)}>
        {key}
        {opening}
        {entries.length > 0 && (
          <button type="button" aria-expanded="false" onClick={() => setOpen(true)}>
            … {entries.length.toLocaleString()}
          </button>
        )}
        {closing}
        {comma}
      </div>
    )
  }
  return (
    <>
      <div {...line(depth)}>
        {key}
        {depth === 0 ? (
          opening
        ) : (
          <button type="button" aria-expanded="true" title="Close" onClick={() => setOpen(false)}>
            {opening}
          </button>
        )}
      </div>
      {entries.slice(0, count).map(([entry, each], index) => (
        <Node
          key={entry}
          value={each}
          {...(!Array.isArray(value) && { name: entry })}
          depth={depth + 1}
          isLast={index === entries.length - 1}
          isCompared={isCompared && !isDifferent}
          other={otherEntries.get(entry)}
        />
      ))}
      {entries.length > count && (
        <div class="json-line" style={{ '--depth': depth + 1 }}>
          <button type="button" onClick={() => setCount(count * 4)}>
            … {(entries.length - count).toLocaleString()} more
          </button>
        </div>
      )}
      <div class="json-line" style={{ '--depth': depth }}>
        {closing}
        {comma}
      </div>
    </>
  )
}

function Scalar({ value }: { value: unknown }) {
  if (typeof value !== 'string') return <span class="number">{JSON.stringify(value)}</span>
  return (
    <span class="string">
      <Text text={JSON.stringify(value)} />
    </span>
  )
}

function Text({ text }: { text: string }) {
  const [isWhole, setWhole] = useState(text.length <= MAX_TEXT)
  return (
    <>
      <bdi>{isWhole ? text : text.slice(0, MAX_TEXT)}</bdi>
      {!isWhole && (
        <button type="button" onClick={() => setWhole(true)}>
          … {(text.length - MAX_TEXT).toLocaleString()} more characters
        </button>
      )}
    </>
  )
}

function entriesOf(value: unknown): [name: string, value: unknown][] | undefined {
  return typeof value === 'object' && value !== null ? Object.entries(value) : undefined
}
