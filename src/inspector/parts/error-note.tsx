import { MockError } from '../../client/index.js'

/** Returns the message of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** Returns one message per invalid field if the server lists them, or the message of the error. */
function messagesOf(error: unknown): string[] {
  const fields = error instanceof MockError ? Object.entries(error.fields ?? {}) : []
  const messages = fields.flatMap(([name, field]) =>
    field.messages.map((text) => (text.startsWith(name) ? text : `${name}: ${text}`))
  )
  return messages.length > 0 ? messages : [messageOf(error)]
}

/** An error, with a button to try again if that makes sense. */
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
