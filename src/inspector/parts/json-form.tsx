import type { ComponentChildren } from 'preact'
import { useMemo, useRef, useState } from 'preact/hooks'
import { MockError } from '../../client/index.js'
import { Dialog } from './dialog.js'
import { ErrorNote } from './errors.js'
import { parsed } from './json-tree.js'

/** An object whose fields one may fill in. */
export type Fields = Record<string, unknown>

export interface JsonDialogProps {
  title: string
  /** What the JSON is at first; it is empty for what is new. */
  value?: object
  /** The title if left out. */
  button?: string
  /** Gets the JSON, with the fields. May reject with what is wrong, which then stands at its lines. */
  submit(value: Fields): Promise<unknown>
  close(): void
  /** The few fields that people fill: the JSON is folded away below them then. */
  children?: ComponentChildren
}

/** A record as JSON, to be added or changed. What the server says of it stands at the line that it is about. */
export function JsonDialog({
  title,
  value = {},
  button = title,
  submit,
  close,
  children
}: JsonDialogProps) {
  const area = useRef<HTMLTextAreaElement>(null)
  const [text, setText] = useState(() => formatted(value))
  const [error, setError] = useState<unknown>()
  const [isBusy, setBusy] = useState(false)
  // They stay at the lines of what was sent.
  const issues = useMemo(() => issuesIn(text, error), [error])
  const isFolded = children !== undefined
  const lines = text.split('\n')
  const send = async (event: Event) => {
    event.preventDefault()
    const filled = [...new FormData(event.currentTarget as HTMLFormElement)].filter(
      ([, value]) => value !== ''
    )
    setBusy(true)
    setError(undefined)
    try {
      const json = JSON.parse(text)
      // So that each field has a line of its own.
      setText(formatted(json))
      await submit({ ...Object.fromEntries(filled), ...json })
      close()
    } catch (reason) {
      setError(reason)
    }
    setBusy(false)
  }
  const goTo = (line: number) => {
    const start = lines.slice(0, line - 1).reduce((sum, { length }) => sum + length + 1, 0)
    area.current?.focus()
    area.current?.setSelectionRange(start, start + (lines[line - 1]?.length ?? 0))
  }
  return (
    <Dialog title={title} close={close} wide>
      <form class="form" data-held="true" onSubmit={send}>
        {children}
        {error !== undefined && issues.length === 0 && <ErrorNote error={error} />}
        <details open={!isFolded || issues.length > 0}>
          <summary>{isFolded ? 'More fields, as JSON' : 'JSON'}</summary>
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
              onInput={(event) => setText(event.currentTarget.value)}
            />
            <div role="alert" class="is-bad">
              {issues.map(({ line, message }) => (
                <button
                  type="button"
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

const formatted = (value: unknown) => JSON.stringify(value, null, 2)

/** Returns what is wrong with a JSON, by its lines; nothing where it is not known which these are. */
function issuesIn(text: string, error: unknown): { line: number; message: string }[] {
  if (error instanceof SyntaxError) {
    const line = Number(/line (\d+)/.exec(error.message)?.[1])
    return line > 0 ? [{ line, message: error.message }] : []
  }
  if (!(error instanceof MockError)) return []
  return Object.entries(error.fields).flatMap(([path, { messages }]) => {
    const line = lineOf(path, parsed(text))
    return messages.map((message) => ({ line, message: message.replace(/^\w+:\d+:\d+ /, '') }))
  })
}

/** Returns the line of a path such as `steps[0].type` in formatted JSON; of what it is in, where it is not there itself. */
function lineOf(path: string, value: unknown): number {
  let line = 1
  for (const name of path.match(/[^.[\]]+/g) ?? []) {
    const entries = Object.entries(Object(value))
    const index = entries.findIndex(([each]) => each === name)
    if (index === -1) break
    for (const [, before] of entries.slice(0, index)) line += formatted(before).split('\n').length
    line += 1
    value = entries[index]?.[1]
  }
  return line
}
