import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { ErrorNote } from '../parts/error-note.js'
import { dismissErrors } from '../parts/toast.js'
import { useConnectionProblem } from './live-provider.js'
import { useSession } from './session.js'

/**
 * Shows in every view that the server is unreachable, or that the environment was removed. The page
 * keeps trying to connect. Once it is connected, the note and the toasts about errors disappear.
 */
export function ConnectionNote() {
  const isConnected = useConnectionProblem() === undefined
  useEffect(() => {
    if (isConnected) dismissErrors()
  }, [isConnected])
  return <ProblemNote />
}

function ProblemNote() {
  const { reloadAll } = useSession()
  const problem = useConnectionProblem()
  if (!problem) return null
  const text =
    problem.kind === 'removed'
      ? 'this environment was removed, or its API key was changed.'
      : `trying again until the server responds. Last error: ${problem.message}`
  return (
    <div class="callout toned is-bad connection" role="alert">
      <span class="callout-text" dir="auto">
        Not connected: {text}
      </span>
      {problem.kind === 'removed' && (
        <button onClick={reloadAll}>Select another environment</button>
      )}
    </div>
  )
}

/**
 * Shows an error, unless `ConnectionNote` shows a connection problem that has probably caused it.
 */
export function WhileConnected({ children }: { children: ComponentChildren }) {
  return useConnectionProblem() ? null : <>{children}</>
}

/**
 * Shows in a dialog or popover why its data couldn't be loaded. Repeats the note of the page while
 * there is a connection problem, because the dialog or popover may cover it.
 */
export function LoadError({ error, retry }: { error: unknown; retry: () => void }) {
  return (
    <>
      <ProblemNote />
      <WhileConnected>
        {error !== undefined && <ErrorNote error={error} retry={retry} />}
      </WhileConnected>
    </>
  )
}
