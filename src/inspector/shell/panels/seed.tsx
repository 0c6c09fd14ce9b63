import { useEffect, useState } from 'preact/hooks'
import { type AttachedEnvironment, MockError } from '../../../client/index.js'
import { Dialog } from '../../parts/dialog.js'
import { ErrorNote } from '../../parts/errors.js'
import { useResource } from '../../parts/resource.js'
import { useToasts } from '../../parts/toast.js'
import { WithCode } from '../../parts/with-code.js'
import type { PanelProps } from '../panel.js'
import { useSession } from '../session.js'
import { useGoBack } from './go-back.js'

export interface DroppedFile {
  name: string
  text: string
}

interface SeedProps extends PanelProps {
  file: DroppedFile | undefined
  setFile(file: DroppedFile | undefined): void
}

/** Loads a packaged scenario or a seed file, in place of what is there or beside it. */
export function SeedPanel({ close, file, setFile }: SeedProps) {
  const { mock, env } = useSession()
  const { run } = useToasts()
  const goBack = useGoBack({ showsErrors: true })
  const [mode, setMode] = useState<'merge' | 'replace'>('replace')
  const [error, setError] = useState<unknown>()
  const scenarios = useResource(() => mock.scenarios(), [mock])
  // What is wrong with one file is not what is wrong with the next, nor with the same one after it was mended.
  useEffect(() => setError(undefined), [file])
  useEffect(() => () => setFile(undefined), [])
  const load = async (name: string, action: () => Promise<unknown>) => {
    try {
      await goBack(`${name} is loaded`, action)
      close()
    } catch (reason) {
      setError(reason)
    }
  }
  return (
    <Dialog title="Load a seed" close={close} wide>
      <fieldset class="line choices" role="radiogroup" aria-label="How to load">
        {(['replace', 'merge'] as const).map((each) => (
          <label key={each}>
            <input type="radio" name="mode" checked={mode === each} onChange={() => setMode(each)} />
            {each === 'replace' ? 'In place of what is there, also for later resets' : 'Beside what is there'}
          </label>
        ))}
      </fieldset>
      <label>
        A seed file, in YAML or JSON: drop it anywhere on the page, or choose it
        <input
          type="file"
          accept=".yaml,.yml,.json"
          onChange={async ({ currentTarget: input }) => {
            const [chosen] = input.files ?? []
            const read = chosen && (await run(() => readFile(chosen)))
            // So that the same one, mended, can be chosen again.
            input.value = ''
            if (read) setFile(read)
          }}
        />
      </label>
      {file && (
        <div class="line">
          <b dir="auto">{file.name}</b>
          <span class="hint">{file.text.length.toLocaleString()} characters</span>
          <button type="button" class="primary" onClick={() => load(file.name, () => env.seed(file.text, { mode }))}>
            Load it
          </button>
        </div>
      )}
      {error !== undefined && <SeedIssues error={error} text={file?.text ?? ''} />}
      {scenarios.error !== undefined && <ErrorNote error={scenarios.error} retry={scenarios.reload} />}
      {!file && (
        <ul class="scenarios" aria-label="Scenarios">
          {scenarios.value?.map(({ name, description }) => (
            <li key={name}>
              <button type="button" onClick={() => load(name, () => env.loadScenario(name, { mode }))}>
                {name}
              </button>
              <span class="muted">
                <WithCode text={description} />
              </span>
            </li>
          ))}
        </ul>
      )}
    </Dialog>
  )
}

/** What is wrong with a seed, by its lines, with each line. Nothing of the seed was loaded then. */
function SeedIssues({ error, text }: { error: unknown; text: string }) {
  const messages = error instanceof MockError ? Object.values(error.fields).flatMap(({ messages: all }) => all) : []
  if (messages.length === 0) return <ErrorNote error={error} />
  const lines = text.split('\n')
  return (
    <div class="error-note" role="alert">
      <p>Nothing of it was loaded.</p>
      <ol class="seed-issues">
        {messages.map((message) => {
          // The server says each as `seed:2:14 must be …`.
          const [, line = '1', column = '1', words = message] = /^seed:(\d+):(\d+) (.*)$/s.exec(message) ?? []
          return (
            <li key={message}>
              <span dir="auto">
                line {line}, column {column}: {words}
              </span>
              <pre dir="ltr">{(lines[Number(line) - 1] ?? '').slice(0, 200)}</pre>
            </li>
          )
        })}
      </ol>
    </div>
  )
}

/** Reads a file that a person chose or dropped. Rejects for a folder. */
export async function readFile(file: globalThis.File): Promise<DroppedFile> {
  try {
    return { name: file.name, text: await file.text() }
  } catch {
    throw new Error(`${file.name} cannot be read as a file. Is it a folder?`)
  }
}

/** Has the browser save the state as a seed, under the name of the environment. */
export async function exportState(env: AttachedEnvironment, name = 'environment'): Promise<void> {
  const text = await env.state({ format: 'yaml' })
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([text], { type: 'application/yaml' }))
  link.download = `${name.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '-')}.yaml`
  link.click()
  URL.revokeObjectURL(link.href)
}
