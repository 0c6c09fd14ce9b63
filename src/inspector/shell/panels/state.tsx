import { useState } from 'preact/hooks'
import type { AttachedEnvironment } from '../../../client/index.js'
import { Dialog } from '../../parts/dialog.js'
import { ErrorNote } from '../../parts/error-note.js'
import type { Action } from '../../parts/popover.js'
import { useResource } from '../../parts/resource.js'
import { runWithToast, showToast } from '../../parts/toast.js'
import { useCommands } from '../commands.js'
import { useSession } from '../session.js'

/**
 * The maximum length of a snapshot's name before the time is added. The server limits the whole
 * name to 200 characters.
 */
const MAX_PREFIX_LENGTH = 170

/** Returns a name for a snapshot. Adds the time to make the name unique. */
export function snapshotName(prefix = 'snapshot'): string {
  const time = new Date().toISOString().slice(11, 23)
  return `${prefix.slice(0, MAX_PREFIX_LENGTH)}, ${time}`
}

/**
 * Returns a function that replaces the environment's state. The old state is saved in a snapshot,
 * which Undo restores. If the action fails, the function rejects and the state is unchanged.
 */
export function useReplaceState() {
  const { env, reloadAll } = useSession()
  return async (successText: string, action: () => Promise<unknown>): Promise<void> => {
    const snapshot = await env.snapshot(snapshotName(`before “${successText}”`))
    try {
      await action()
    } catch (error) {
      await snapshot.remove()
      throw error
    }
    const undo = async () => {
      await snapshot.restore({ baseline: true })
      await snapshot.remove()
      reloadAll()
    }
    reloadAll()
    showToast(successText, () => runWithToast(undo, 'Undone'))
  }
}

/** Returns a function that resets the data, clock and idempotency keys to the baseline. */
export function useReset() {
  const { env, listed } = useSession()
  const replaceState = useReplaceState()
  const reset = () => env.reset({ parts: ['data', 'clock', 'idempotency'] })
  const name = listed?.name ?? 'the environment'
  return () => runWithToast(() => replaceState(`Reset ${name}`, reset))
}

/**
 * Returns actions that load a seed from a file. If a seed was rejected, also returns a dialog with
 * the errors. Adds commands to the palette that load the built-in seeds.
 */
export function useSeeds() {
  const { mock, env } = useSession()
  const replaceState = useReplaceState()
  const [error, setError] = useState<unknown>()
  const { value: builtInSeeds = [] } = useResource(() => mock.builtInSeeds(), [mock])
  const load = (name: string, action: () => Promise<unknown>) =>
    replaceState(`Loaded ${name}`, action).catch(setError)
  const loadFile = async (mode: 'merge' | 'replace') => {
    const file = await chooseSeedFile()
    await load(file.name, async () => env.seed(await file.text(), { mode }))
  }
  useCommands(
    builtInSeeds.map(({ name, description }) => ({
      name: `Load the built-in seed ${name}`,
      hint: description,
      run: () => load(name, () => env.loadBuiltInSeed(name, { mode: 'replace' }))
    }))
  )
  const actions: readonly Action[] = [
    { name: 'Replace the data with a seed…', run: () => loadFile('replace') },
    { name: 'Add data from a seed…', run: () => loadFile('merge') }
  ]
  const rejectionDialog = error !== undefined && (
    <Dialog title="The seed was not loaded" close={() => setError(undefined)}>
      <ErrorNote error={error} />
    </Dialog>
  )
  return { actions, rejectionDialog }
}

/** Opens the browser's file dialog. The promise never settles if the user cancels. */
function chooseSeedFile(): Promise<File> {
  const input = document.createElement('input')
  input.type = 'file'
  input.accept = '.yaml,.yml,.json'
  return new Promise((resolve) => {
    input.onchange = () => {
      const file = input.files?.[0]
      if (file) resolve(file)
    }
    input.click()
  })
}

/** Downloads the state as a seed file named after the environment. */
export async function exportState(env: AttachedEnvironment, name = 'environment'): Promise<void> {
  const yaml = await env.state({ format: 'yaml' })
  const href = URL.createObjectURL(new Blob([yaml], { type: 'application/yaml' }))
  const link = document.createElement('a')
  link.href = href
  link.download = `${name.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '-')}.yaml`
  link.click()
  URL.revokeObjectURL(href)
}
