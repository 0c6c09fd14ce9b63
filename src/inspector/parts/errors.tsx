import { MockError } from '../../client/index.js'

/** Returns what went wrong, in the server's words where it has some. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** What went wrong in place of what was to be shown, field by field where the server names them. */
export function ErrorNote({ error, retry }: { error: unknown; retry?: () => void }) {
  const fields = error instanceof MockError ? Object.entries(error.fields ?? {}) : []
  const messages = fields.flatMap(([name, { messages }]) =>
    messages.map((text) => (text.startsWith(name) ? text : `${name}: ${text}`))
  )
  return (
    <div class="callout toned is-bad" role="alert">
      <ul>
        {(messages.length > 0 ? messages : [messageOf(error)]).map((text) => (
          <li key={text} dir="auto">
            {text}
          </li>
        ))}
      </ul>
      {retry && <button onClick={retry}>Try again</button>}
    </div>
  )
}
