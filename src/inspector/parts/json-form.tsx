import type { ComponentChildren } from 'preact'
import { useMemo, useRef, useState } from 'preact/hooks'
import { MockError } from '../../client/index.js'
import { Dialog } from './dialog.js'
import { ErrorNote } from './errors.js'

/** An object whose fields one may fill in. */
export type Fields = Record<string, unknown>

interface JsonDialogProps {
  title: string
  /** What the JSON is at first; it is empty for what is new. */
  value?: object
  button: string
  /** Gets the JSON. May reject with what is wrong, which then stands at its lines. */
  submit(value: Fields): Promise<unknown>
  close(): void
  /** The few fields that people fill: the JSON is folded away below them then. */
  children?: ComponentChildren
}

/** A record as JSON, to be added or changed. What the server says of it stands at the line that it is about. */
export function JsonDialog({ title, value = {}, button, submit, close, children }: JsonDialogProps) {
  const [text, setText] = useState(() => JSON.stringify(value, null, 2))
  const [error, setError] = useState<unknown>()
  const [isBusy, setBusy] = useState(false)
  // They stay at the lines of what was sent.
  const issues = useMemo(() => issuesIn(text, error), [error])
  const send = async (event: Event) => {
    event.preventDefault()
    setBusy(true)
    setError(undefined)
    try {
      await submit(JSON.parse(text))
      close()
    } catch (reason) {
      setError(reason)
    }
    setBusy(false)
  }
  return (
    <Dialog title={title} close={close} wide>
      <form class="form" data-held="true" onSubmit={send}>
        {children}
        {error !== undefined && issues.length === 0 && <ErrorNote error={error} />}
        <details open={children === undefined || issues.length > 0}>
          <summary>{children === undefined ? 'JSON' : 'More fields, as JSON'}</summary>
          <Editor text={text} change={setText} issues={issues} isFolded={children !== undefined} />
        </details>
        <div class="line">
          <button type="submit" class="primary" disabled={isBusy}>
            {button}
          </button>
          <button type="button" onClick={close}>
            Cancel
          </button>
        </div>
      </form>
    </Dialog>
  )
}

interface Issue {
  line: number
  message: string
}

interface EditorProps {
  text: string
  change(text: string): void
  issues: readonly Issue[]
  isFolded: boolean
}

function Editor({ text, change, issues, isFolded }: EditorProps) {
  const area = useRef<HTMLTextAreaElement>(null)
  const lines = text.split('\n')
  const goTo = (line: number) => {
    const start = lines.slice(0, line - 1).join('\n').length + Math.min(1, line - 1)
    area.current?.focus()
    area.current?.setSelectionRange(start, start + (lines[line - 1]?.length ?? 0))
  }
  return (
    <div class="editor card">
      <textarea
        ref={area}
        aria-label="JSON"
        aria-invalid={issues.length > 0}
        rows={Math.max(isFolded ? 4 : 8, lines.length)}
        wrap="off"
        spellcheck={false}
        autofocus={!isFolded}
        value={text}
        dir="ltr"
        onInput={(event) => change(event.currentTarget.value)}
      />
      <div role="alert">
        {issues.map(({ line, message }) => (
          <button
            type="button"
            class="chip is-bad"
            style={{ '--line': line }}
            title={message}
            onClick={() => goTo(line)}
          >
            <span class="visually-hidden">Line {line}: </span>
            <span class="cut">{message}</span>
          </button>
        ))}
      </div>
    </div>
  )
}

/** Returns what is wrong with a JSON, by its lines. What is wrong with a field that it has not stands at its beginning. */
function issuesIn(text: string, error: unknown): Issue[] {
  if (error instanceof SyntaxError) {
    const [, line] = /line (\d+)/.exec(error.message) ?? []
    return line === undefined ? [] : [{ line: Number(line), message: error.message }]
  }
  if (!(error instanceof MockError)) return []
  const lines = linesOfJson(text)
  return Object.entries(error.fields).flatMap(([path, { messages }]) =>
    messages.map((message) => ({ line: placeOf(lines, path), message: message.replace(/^\w+:\d+:\d+ /, '') }))
  )
}

/** Returns the fields that one object has other than another; null for those that it lacks. */
export function changesOf(before: Fields, after: Fields): Fields {
  const names = Object.keys({ ...before, ...after })
  const changed = names.filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]))
  return Object.fromEntries(changed.map((name) => [name, after[name] ?? null]))
}

/** Returns the line of each value of a JSON text, from 1, by its path, such as `steps[0].type`. */
function linesOfJson(text: string): Map<string, number> {
  const lines = new Map<string, number>()
  const open: { path: string; index?: number }[] = []
  let name: string | undefined
  for (const { 0: token, index } of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\],]|[^\s{}[\],:"]+/g)) {
    const top = open.at(-1)
    if (token === '}' || token === ']') open.pop()
    else if (token === ',') {
      if (top?.index !== undefined) top.index += 1
    } else if (top && top.index === undefined && name === undefined) name = JSON.parse(token) as string
    else {
      const place = top?.index === undefined ? `.${name}` : `[${top.index}]`
      const path = top ? `${top.path}${place}`.replace(/^\./, '') : ''
      lines.set(path, text.slice(0, index).split('\n').length)
      name = undefined
      if (token === '{') open.push({ path })
      else if (token === '[') open.push({ path, index: 0 })
    }
  }
  return lines
}

/** Returns the line of a path, or of the next one above it that is there. */
function placeOf(lines: Map<string, number>, path: string): number {
  const line = lines.get(path)
  return line ?? (path === '' ? 1 : placeOf(lines, path.replace(/(\.|\[|^)[^.[]*$/, '')))
}
