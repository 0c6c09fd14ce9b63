import { run, tell } from '../../parts/toast.js'
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
