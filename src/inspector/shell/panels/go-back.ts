import { useToasts } from '../../parts/toast.js'
import { useSession } from '../session.js'

/** Returns a name that no other snapshot has. */
export function snapshotName(words = 'snapshot'): string {
  return `${words.slice(0, 170)}, ${new Date().toISOString().slice(11, 23)}`
}

/**
 * Returns what replaces the state of the environment: it keeps what was there in a snapshot, which Undo restores. Resolves
 * to whether it was done. What goes wrong is told, or thrown where the caller shows it.
 */
export function useGoBack({ showsErrors = false } = {}) {
  const { env, changed } = useSession()
  const { run, tell } = useToasts()
  return async (done: string, action: () => Promise<unknown>): Promise<boolean> => {
    const replace = async () => {
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
      return true
    }
    return (showsErrors ? await replace() : await run(replace)) === true
  }
}
