import { useEffect, useState } from 'preact/hooks'
import type { AttachedEnvironment } from '../../../client/index.js'
import { Dialog } from '../../parts/dialog.js'
import { ErrorNote } from '../../parts/errors.js'
import { useResource } from '../../parts/resource.js'
import { run } from '../../parts/toast.js'
import { WithCode } from '../../parts/with-code.js'
import { useSession } from '../session.js'
import { useGoBack } from './go-back.js'

interface SeedFile {
  name: string
  text: string
}

interface Props {
  isOpen: boolean
  open(): void
  close(): void
}

/** Loads a packaged scenario or a seed file, in place of what is there or beside it. A file may be dropped anywhere. */
export function SeedPanel({ isOpen, open, close }: Props) {
  const [file, setFile] = useState<SeedFile>()
  const take = async (chosen: File | undefined) => {
    if (!chosen) return
    const { name } = chosen
    const text = await run(() => chosen.text().catch(() => Promise.reject(`${name} cannot be read. Is it a folder?`)))
    if (text === undefined) return
    setFile({ name, text })
    open()
  }
  useEffect(() => {
    const drag = (event: DragEvent) => {
      if (!event.dataTransfer?.types.includes('Files')) return
      event.preventDefault()
      if (event.type === 'drop') void take(event.dataTransfer.files[0])
    }
    addEventListener('dragover', drag)
    addEventListener('drop', drag)
    return () => {
      removeEventListener('dragover', drag)
      removeEventListener('drop', drag)
    }
  })
  const leave = () => {
    setFile(undefined)
    close()
  }
  return isOpen ? <SeedDialog {...{ file, take }} close={leave} /> : null
}

interface DialogProps {
  file: SeedFile | undefined
  take(file: File | undefined): unknown
  close(): void
}

function SeedDialog({ file, take, close }: DialogProps) {
  const { mock, env } = useSession()
  const goBack = useGoBack()
  const [mode, setMode] = useState<'merge' | 'replace'>('replace')
  const [error, setError] = useState<unknown>()
  const scenarios = useResource(() => mock.scenarios(), [mock])
  // What is wrong with one file is not what is wrong with the next, nor with the same one after it was mended.
  useEffect(() => setError(undefined), [file])
  const load = (name: string, action: () => Promise<unknown>) =>
    goBack(`${name} is loaded`, action).then(close, setError)
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
          // Another one each time, so that the same file, mended, can be chosen again.
          key={file}
          type="file"
          accept=".yaml,.yml,.json"
          onChange={({ currentTarget }) => take(currentTarget.files?.[0])}
        />
      </label>
      {error !== undefined && <ErrorNote error={error} />}
      {file ? (
        <div class="line">
          <b dir="auto">{file.name}</b>
          <button class="primary" onClick={() => load(file.name, () => env.seed(file.text, { mode }))}>
            Load it
          </button>
        </div>
      ) : (
        <dl class="facts" aria-label="Scenarios">
          {scenarios.value?.map(({ name, description }) => [
            <dt key={name}>
              <button onClick={() => load(name, () => env.loadScenario(name, { mode }))}>{name}</button>
            </dt>,
            <dd key={`${name}:`}>
              <WithCode text={description} />
            </dd>
          ])}
        </dl>
      )}
    </Dialog>
  )
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
