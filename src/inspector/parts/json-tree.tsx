import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'

interface TreeProps {
  value: unknown
  /** What it is, for who can't see it. */
  label: string
  /** What to compare with, if anything: lines of what differs are marked. */
  other?: unknown
}

/** Entries of a list or an object that are shown at first. */
const SHOWN = 50
/** Deeper ones are closed at first. */
const OPEN_DEPTH = 5

/** A value as JSON, whose lists and objects open and close; a text that is no JSON as it is. */
export function JsonTree({ value, label, other }: TreeProps) {
  const isCompared = other !== undefined
  return (
    <div class="card json" role="group" aria-label={label} tabIndex={0} dir="ltr">
      {typeof value === 'string' ? (
        value
      ) : (
        <Node {...{ value, other, isCompared }} depth={0} comma="" />
      )}
    </div>
  )
}

/** Returns the value of a JSON text, or the text where it is none. */
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
  let [end, ending] = [0, '']
  for (const { 0: token, index } of text.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{},]/g)) {
    if (token === '{' || token === '[') closing.unshift(token === '{' ? '}' : ']')
    else if (token === '}' || token === ']') closing.shift()
    // The last place at which what comes after can be left out.
    if (!/^["{[]/.test(token)) [end, ending] = [token === ',' ? index : index + 1, closing.join('')]
  }
  const value = parsed(text.slice(0, end) + ending)
  return typeof value === 'object' ? value : text
}

interface NodeProps {
  value: unknown
  name?: string
  depth: number
  /** After it, where others follow. */
  comma: string
  other: unknown
  isCompared: boolean
}

function Node({ value, name, depth, comma, other, isCompared }: NodeProps) {
  const entries = entriesOf(value)
  const [isOpen, setOpen] = useState(depth < OPEN_DEPTH)
  const [count, setCount] = useState(SHOWN)
  const isAlike = entries ? entriesOf(other) !== undefined : value === other
  const line = (content: ComponentChildren, at = depth) => (
    <div
      class={isCompared && !isAlike ? 'json-line is-different is-warn' : 'json-line'}
      style={{ '--depth': at }}
    >
      {content}
    </div>
  )
  const key = name !== undefined && (
    <span class="key toned is-accent">{JSON.stringify(name)}: </span>
  )
  if (!entries) {
    const scalar = (
      <bdi class={`toned is-${typeof value === 'string' ? 'good' : 'warn'}`}>
        {JSON.stringify(value)}
      </bdi>
    )
    return line([key, scalar, comma])
  }
  const [opening, closing] = Array.isArray(value) ? ['[', `]${comma}`] : ['{', `}${comma}`]
  if (entries.length === 0) return line([key, opening, closing])
  const toggle = (
    <button
      key="toggle"
      aria-expanded={isOpen}
      title={isOpen ? 'Close' : 'Open'}
      onClick={() => setOpen(!isOpen)}
    >
      {isOpen ? opening : `… ${entries.length.toLocaleString()}`}
    </button>
  )
  if (!isOpen) return line([key, opening, toggle, closing])
  return (
    <>
      {line([key, depth === 0 ? opening : toggle])}
      {entries.slice(0, count).map(([entry, each], index) => (
        <Node
          key={entry}
          value={each}
          {...(!Array.isArray(value) && { name: entry })}
          depth={depth + 1}
          comma={index === entries.length - 1 ? '' : ','}
          other={Object(other)[entry]}
          isCompared={isCompared && isAlike}
        />
      ))}
      {entries.length > count &&
        line(
          <button onClick={() => setCount(count * 4)}>… {entries.length - count} more</button>,
          depth + 1
        )}
      {line(closing)}
    </>
  )
}

const entriesOf = (value: unknown) =>
  typeof value === 'object' && value !== null ? Object.entries(value) : undefined
