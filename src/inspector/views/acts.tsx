import type { Action } from '../parts/popover.js'
import { run, tell } from '../parts/toast.js'
import { lookOptions, reasonOf, useSession } from '../shell/session.js'

/** Returns what changes the environment, tells what was done, and offers to undo it where that is given. */
export function useAct() {
  const { changed } = useSession()
  type Undo<Result> = (result: Result) => Promise<unknown>
  return async function act<Result>(
    action: () => Promise<Result>,
    done: string,
    undo?: Undo<Result>
  ): Promise<void> {
    // Wrapped, as most actions have no result.
    const outcome = await run(async () => ({ result: await action() }))
    changed()
    if (!outcome) return
    const takeBack = undo && (() => act(() => undo(outcome.result), 'It is as it was before'))
    tell(done, takeBack && { name: 'Undo', run: takeBack })
  }
}

/** Returns what asks the service, as a product does where it is asked for. It throws what is refused, in the server's words. */
export function useService() {
  const { call } = useSession()
  return async (method: string, path: string, isAsked = true) => {
    const answer = await call(method, path, lookOptions(isAsked))
    if (answer.status < 300) return answer
    const { message = 'it does not say why' } = Object(answer.json)
    throw new Error(`${answer.status}: ${reasonOf(answer) ?? message}`)
  }
}

/** What one can do, as buttons in a line; or choose, where `current` is the one that is chosen. */
export function Actions({
  actions,
  label,
  current
}: {
  actions: readonly Action[]
  label?: string
  current?: string
}) {
  const pressed = (name: string) =>
    current === undefined ? {} : { 'aria-pressed': name === current }
  return (
    <div class="line" role="group" aria-label={label}>
      {actions.map(({ name, isDanger, run }) => (
        <button
          key={name}
          type="button"
          class={isDanger ? 'danger' : ''}
          {...pressed(name)}
          onClick={run}
        >
          {name}
        </button>
      ))}
    </div>
  )
}
