import type { Action } from '../parts/popover.js'
import { runWithToast, showToast } from '../parts/toast.js'
import { callOptions, reasonOf, useSession } from '../shell/session.js'

/**
 * Returns a function that runs an action, reloads the data, and shows the result in a toast. If
 * `undo` is given, the toast has an Undo button.
 */
export function useAction() {
  const { reloadAll } = useSession()
  return async function runAction<Result>(
    action: () => Promise<Result>,
    successText: string,
    undo?: (result: Result) => Promise<unknown>
  ): Promise<void> {
    // Wrap the result in an object, because `runWithToast` returns undefined if the action fails.
    const outcome = await runWithToast(async () => ({ result: await action() }))
    reloadAll()
    if (!outcome) return
    const runUndo = undo && (() => runAction(() => undo(outcome.result), 'Undone'))
    showToast(successText, runUndo)
  }
}

/**
 * Returns a function that sends a request to the server. If the response isn't a 2XX, the function
 * throws an `Error` with the server's reason.
 */
export function useServiceCall() {
  const { call } = useSession()
  return async (method: string, path: string, isUserAction = true) => {
    const response = await call(method, path, callOptions({ isUserAction }))
    if (response.status < 300) return response
    const { message = 'no reason given' } = Object(response.json)
    throw new Error(`${response.status}: ${reasonOf(response) ?? message}`)
  }
}

interface ActionButtonsProps {
  actions: readonly Action[]
  label?: string
  /** The name of the selected action, if the actions are alternatives to choose from. */
  current?: string
}

/** Shows actions as a row of buttons. */
export function ActionButtons({ actions, label, current }: ActionButtonsProps) {
  return (
    <div class="line" role="group" aria-label={label}>
      {actions.map(({ name, isDanger, run }) => (
        <button
          key={name}
          type="button"
          class={isDanger ? 'danger' : ''}
          aria-pressed={current === undefined ? undefined : name === current}
          onClick={run}
        >
          {name}
        </button>
      ))}
    </div>
  )
}
