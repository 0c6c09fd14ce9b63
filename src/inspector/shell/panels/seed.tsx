import { useEffect, useState } from 'preact/hooks'
import type { AttachedEnvironment } from '../../../client/index.js'
import { Dialog } from '../../parts/dialog.js'
import { ErrorNote } from '../../parts/errors.js'
import type { Action } from '../../parts/popover.js'
import { useResource } from '../../parts/resource.js'
import { useCommands } from '../palette.js'
import { useSession } from '../session.js'
import { useGoBack } from './go-back.js'

type Mode = 'merge' | 'replace'

/**
 * Returns what loads a seed from a file, and what is wrong with one that was not loaded. One that is dropped onto the page is
 * loaded too, and the palette has those of the package.
 */
export function useSeeds() {
  const { mock, env } = useSession()
  const goBack = useGoBack()
  const [error, setError] = useState<unknown>()
  const { value: scenarios = [] } = useResource(() => mock.scenarios(), [mock])
  const load = (name: string, action: () => Promise<unknown>) => goBack(`${name} is loaded`, action).catch(setError)
  const loadFile = (file: File | undefined, mode: Mode) =>
    file && load(file.name, async () => env.seed(await file.text(), { mode }))
  const choose = (mode: Mode) => {
    const input = document.createElement('input')
    Object.assign(input, { type: 'file', accept: '.yaml,.yml,.json' })
    input.onchange = () => loadFile(input.files?.[0], mode)
    input.click()
  }
  useEffect(() => {
    const drag = (event: DragEvent) => {
      if (!event.dataTransfer?.types.includes('Files')) return
      event.preventDefault()
      if (event.type === 'drop') loadFile(event.dataTransfer.files[0], 'replace')
    }
    addEventListener('dragover', drag)
    addEventListener('drop', drag)
    return () => {
      removeEventListener('dragover', drag)
      removeEventListener('drop', drag)
    }
  })
  useCommands(
    scenarios.map(({ name, description }) => ({
      name: `Load the packaged seed ${name}`,
      hint: description,
      run: () => load(name, () => env.loadScenario(name, { mode: 'replace' }))
    }))
  )
  const actions: readonly Action[] = [
    { name: 'Load a seed in place of it…', run: () => choose('replace') },
    { name: 'Load a seed beside it…', run: () => choose('merge') }
  ]
  const refusal = error !== undefined && (
    <Dialog title="Nothing of the seed was loaded" close={() => setError(undefined)}>
      <ErrorNote error={error} />
    </Dialog>
  )
  return { actions, refusal }
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
