import { MockError } from '../../client/index.js'

/** Returns an error's message. Converts any other thrown value to a string. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/**
 * Returns the messages about the invalid fields. If the error names no fields, returns the error's
 * message.
 */
function messagesOf(error: unknown): string[] {
  const fields = error instanceof MockError ? Object.entries(error.fields ?? {}) : []
  const messages = fields.flatMap(([name, field]) =>
    field.messages.map((text) => (text.startsWith(name) ? text : `${name}: ${text}`))
  )
  return messages.length > 0 ? messages : [messageOf(error)]
}

/** Shows an error. If `retry` is given, adds a button that calls it. */
export function ErrorNote({ error, retry }: { error: unknown; retry?: () => void }) {
  return (
    <div class="callout toned is-bad" role="alert">
      <ul>
        {messagesOf(error).map((text) => (
          <li key={text} dir="auto">
            {text}
          </li>
        ))}
      </ul>
      {retry && <button onClick={retry}>Try again</button>}
    </div>
  )
}
