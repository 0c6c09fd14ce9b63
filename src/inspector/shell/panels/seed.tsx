import { useEffect, useState } from 'preact/hooks'
import type { AttachedEnvironment } from '../../../client/index.js'
import { ConfirmDialog } from '../../parts/confirm.js'
import { Dialog } from '../../parts/dialog.js'
import { ErrorNote } from '../../parts/errors.js'
import { useNotices } from '../../parts/notices.js'
import { useResource } from '../../parts/resource.js'
import { WithCode } from '../../parts/with-code.js'
import { type PanelProps, useAction } from '../panel.js'
import { useSession } from '../session.js'
import { SeedIssues } from './seed-issues.js'

export interface DroppedFile {
  name: string
  text: string
}

interface SeedProps extends PanelProps {
  file: DroppedFile | undefined
  setFile(file: DroppedFile | undefined): void
}

/** Loads a packaged scenario or a seed file, and saves the state as one. */
export function SeedPanel({ close, reload, file, setFile }: SeedProps) {
  const { env, listed } = useSession()
  const { run } = useNotices()
  const [mode, setMode] = useState<'merge' | 'replace'>('replace')
  // Who opens it again looks for the scenarios.
  useEffect(() => () => setFile(undefined), [])
  return (
    <Dialog title="Seed" close={close} wide>
      <fieldset class="row" role="radiogroup" aria-label="How to load">
        <label class="inline">
          <input type="radio" name="mode" checked={mode === 'replace'} onChange={() => setMode('replace')} />
          In place of what is there, also for later resets
        </label>
        <label class="inline">
          <input type="radio" name="mode" checked={mode === 'merge'} onChange={() => setMode('merge')} />
          Add it to what is there
        </label>
      </fieldset>
      <File mode={mode} file={file} setFile={setFile} close={close} reload={reload} />
      {!file && <Scenarios mode={mode} close={close} reload={reload} />}
      {!file && (
        <div class="row">
          <button type="button" onClick={() => run(() => exportState(env, listed?.name), 'Saved')}>
            Export as YAML
          </button>
          <span class="hint">The state as it is now, as a seed that answers byte for byte the same.</span>
        </div>
      )}
    </Dialog>
  )
}

type LoadProps = PanelProps & { mode: 'merge' | 'replace' }

function Scenarios({ mode, close, reload }: LoadProps) {
  const { mock, env, listed } = useSession()
  const [asked, setAsked] = useState<string>()
  const { value: scenarios, error, isLoading, reload: again } = useResource(() => mock.scenarios(), [mock])
  const { act, isRunning } = useAction({ reload })
  const load = async (name: string) => {
    const isLoaded = await act(async () => {
      await env.loadScenario(name, { mode })
      return true
    }, `Loaded the scenario ${name}`)
    if (isLoaded) close()
  }
  return (
    <section aria-label="Scenarios">
      <h3>Packaged scenarios</h3>
      {error !== undefined && !isLoading && <ErrorNote error={error} retry={again} />}
      <ul class="scenarios">
        {scenarios?.map(({ name, description }) => (
          <li key={name}>
            <button
              type="button"
              disabled={isRunning}
              onClick={() => (mode === 'replace' ? setAsked(name) : load(name))}
            >
              {name}
            </button>
            <span>
              <WithCode text={description} />
            </span>
          </li>
        ))}
      </ul>
      {asked !== undefined && (
        <ConfirmDialog
          question={`Replace all data of ${listed?.name ?? 'the environment'} by the scenario ${asked}?`}
          button="Replace it"
          hint="A later reset goes back to the scenario too. A snapshot taken before keeps what is there now."
          run={() => load(asked)}
          close={() => setAsked(undefined)}
        />
      )}
    </section>
  )
}

function File({ mode, file, setFile, close, reload }: LoadProps & Pick<SeedProps, 'file' | 'setFile'>) {
  const { env } = useSession()
  const { run } = useNotices()
  const { act, isRunning, error } = useAction({ reload, showsErrors: true })
  // The issues of one file are not those of the next, nor of the same one after it was mended.
  const [tried, setTried] = useState<DroppedFile>()
  const load = async (wanted: DroppedFile) => {
    const { name, text } = wanted
    setTried(wanted)
    const isLoaded = await act(async () => {
      await env.seed(text, { mode })
      return true
    }, `Loaded ${name}`)
    if (!isLoaded) return
    setFile(undefined)
    close()
  }
  return (
    <section class="drop" aria-label="Seed file">
      <label>
        A seed file, in YAML or JSON: drop it anywhere on the page, or choose it
        <input
          type="file"
          accept=".yaml,.yml,.json"
          onChange={async (event) => {
            const input = event.currentTarget
            const [chosen] = input.files ?? []
            const read = chosen && (await run(() => readFile(chosen)))
            // So that the same one, mended, can be chosen again.
            input.value = ''
            if (read) setFile(read)
          }}
        />
      </label>
      {file && (
        <>
          <div class="row">
            <strong dir="auto">{file.name}</strong>
            <span class="hint">{file.text.length.toLocaleString()} characters</span>
            <button type="button" class="primary" disabled={isRunning} onClick={() => load(file)}>
              {mode === 'replace' ? 'Replace the state by it' : 'Add it to the state'}
            </button>
            <button type="button" onClick={() => setFile(undefined)}>
              Not this one
            </button>
          </div>
          {error !== undefined && tried === file && <SeedIssues error={error} text={file.text} />}
        </>
      )}
    </section>
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
