import { useState } from 'preact/hooks'
import type { AttachedEnvironment } from '../../../client/index.js'
import { Dialog } from '../../parts/dialog.js'
import { ErrorNote } from '../../parts/errors.js'
import type { Action } from '../../parts/popover.js'
import { useResource } from '../../parts/resource.js'
import { run, tell } from '../../parts/toast.js'
import { useCommands } from '../palette.js'
import { useSession } from '../session.js'

/** Returns a name that no other snapshot has. */
export function snapshotName(words = 'snapshot'): string {
  return `${words.slice(0, 170)}, ${new Date().toISOString().slice(11, 23)}`
}

/**
 * Returns what replaces the state of the environment: it keeps what was there in a snapshot, which Undo restores. Rejects
 * with what goes wrong; nothing has changed then.
 */
export function useGoBack() {
  const { env, changed } = useSession()
  return async (done: string, action: () => Promise<unknown>): Promise<void> => {
    const kept = await env.snapshot(snapshotName(`before “${done}”`))
    try {
      await action()
    } catch (error) {
      await kept.remove()
      throw error
    }
    const undo = async () => {
      await kept.restore()
      await kept.remove()
      changed()
    }
    changed()
    tell(done, { name: 'Undo', run: () => run(undo, 'It is as it was before') })
  }
}

/** Returns what sets data, clock and idempotency keys back to what the environment was created or seeded with. */
export function useReset() {
  const { env, listed } = useSession()
  const goBack = useGoBack()
  const reset = () => env.reset({ parts: ['data', 'clock', 'idempotency'] })
  return () => run(() => goBack(`${listed?.name ?? 'The environment'} is reset`, reset))
}

/** Returns what loads a seed from a file, and what is wrong with one that was not loaded. The palette has those of the package. */
export function useSeeds() {
  const { mock, env } = useSession()
  const goBack = useGoBack()
  const [error, setError] = useState<unknown>()
  const { value: builtInSeeds = [] } = useResource(() => mock.builtInSeeds(), [mock])
  const load = (name: string, action: () => Promise<unknown>) =>
    goBack(`${name} is loaded`, action).catch(setError)
  const choose = (mode: 'merge' | 'replace') => {
    const input = Object.assign(document.createElement('input'), {
      type: 'file',
      accept: '.yaml,.yml,.json'
    })
    input.onchange = () => {
      const file = input.files?.[0]
      if (file) load(file.name, async () => env.seed(await file.text(), { mode }))
    }
    input.click()
  }
  useCommands(
    builtInSeeds.map(({ name, description }) => ({
      name: `Load the built-in seed ${name}`,
      hint: description,
      run: () => load(name, () => env.loadBuiltInSeed(name, { mode: 'replace' }))
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
  const href = URL.createObjectURL(
    new Blob([await env.state({ format: 'yaml' })], { type: 'application/yaml' })
  )
  const download = `${name.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '-')}.yaml`
  Object.assign(document.createElement('a'), { href, download }).click()
  URL.revokeObjectURL(href)
}
