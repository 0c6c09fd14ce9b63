import { useEffect, useRef } from 'preact/hooks'
import { MockError } from '../../client/index.js'
import { formatJson, parseJsonOrText } from './json.js'

/** An error in the JSON. `line` is counted from 1. */
export interface Issue {
  /** The path of the invalid field; empty if the text isn't JSON. */
  path: string
  line: number
  message: string
}

interface Props {
  text: string
  setText(text: string): void
  issues: readonly Issue[]
  minRows: number
  /** Whether the editor gets the focus when the dialog opens. */
  isFocused: boolean
}

/**
 * A text area for JSON that shows issues at its right edge. A click on an issue selects its line.
 */
export function JsonEditor({ text, setText, issues, minRows, isFocused }: Props) {
  const textArea = useRef<HTMLTextAreaElement>(null)
  const lines = text.split('\n')
  // `autofocus` moves the cursor to the end of the text and scrolls there. Go back to the start.
  useEffect(() => {
    textArea.current?.setSelectionRange(0, 0)
    textArea.current?.closest('.dialog-body')?.scrollTo(0, 0)
  }, [])
  const selectLine = (line: number) => {
    const start = lines.slice(0, line - 1).reduce((sum, { length }) => sum + length + 1, 0)
    textArea.current?.focus()
    textArea.current?.setSelectionRange(start, start + (lines[line - 1]?.length ?? 0))
  }
  return (
    <div class="editor card">
      <textarea
        ref={textArea}
        aria-label="JSON"
        aria-invalid={issues.length > 0}
        rows={Math.max(minRows, lines.length)}
        wrap="off"
        spellcheck={false}
        autofocus={isFocused}
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
            onClick={() => selectLine(line)}
          >
            <span class="visually-hidden">Line {line}: </span>
            <span class="cut">{message}</span>
          </button>
        ))}
      </div>
    </div>
  )
}

/**
 * Returns the issues to show in the editor: a syntax error, or the invalid fields of a `MockError`.
 * Returns an empty array for any other error.
 */
export function issuesIn(text: string, error: unknown): Issue[] {
  if (error instanceof SyntaxError) {
    // The browser's message has no line number if the text ends too early. Use the last line then.
    const line = Number(/line (\d+)/.exec(error.message)?.[1]) || text.split('\n').length
    return [{ path: '', line, message: error.message }]
  }
  if (!(error instanceof MockError)) return []
  const json = parseJsonOrText(text)
  return Object.entries(error.fields).flatMap(([path, { messages }]) => {
    const line = lineOf(path, json)
    // Remove the prefix `seed:line:column`, because it doesn't refer to lines in the editor.
    return messages.map((message) => ({
      path,
      line,
      message: message.replace(/^\w+:\d+:\d+ /, '')
    }))
  })
}

/**
 * Returns the line number of a path such as `steps[0].type` in formatted JSON. For a missing field,
 * returns the line number of the object that lacks the field.
 */
function lineOf(path: string, root: unknown): number {
  let line = 1
  let value = root
  for (const name of path.match(/[^.[\]]+/g) ?? []) {
    const entries = Object.entries(Object(value))
    const index = entries.findIndex(([key]) => key === name)
    if (index === -1) break
    for (const [, sibling] of entries.slice(0, index)) {
      line += formatJson(sibling).split('\n').length
    }
    line += 1
    value = entries[index]?.[1]
  }
  return line
}
