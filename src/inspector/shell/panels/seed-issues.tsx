import { MockError } from '../../../client/index.js'
import { ErrorNote } from '../../parts/errors.js'

/** What is wrong with a seed, by its lines, with each line. Nothing of the seed was loaded then. */
export function SeedIssues({ error, text }: { error: unknown; text: string }) {
  const issues = error instanceof MockError ? issuesOf(error) : []
  if (issues.length === 0) return <ErrorNote error={error} />
  const lines = text.split('\n')
  return (
    <div class="error-note" role="alert">
      <p>{issues.length === 1 ? 'One issue' : `${issues.length} issues`} in it; nothing of it was loaded.</p>
      <ol class="seed-issues">
        {issues.map(({ line, column, path, message }) => (
          <li key={`${line}:${column} ${path} ${message}`}>
            <span dir="auto">
              line {line}, column {column}: {path !== 'seed' && <strong>{path}</strong>} {message}
            </span>
            <pre dir="ltr">{(lines[line - 1] ?? '').slice(0, 200)}</pre>
          </li>
        ))}
      </ol>
    </div>
  )
}

/** The server says each as `seed:2:14 must be …`, by the path of what it is about. */
function issuesOf({ fields }: MockError) {
  return Object.entries(fields)
    .flatMap(([path, { messages }]) =>
      messages.map((text) => {
        const [, line, column, message = text] = /^seed:(\d+):(\d+) (.*)$/s.exec(text) ?? []
        return { path, line: Number(line ?? 1), column: Number(column ?? 1), message }
      })
    )
    .sort((one, other) => one.line - other.line || one.column - other.column)
}
