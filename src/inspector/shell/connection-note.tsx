import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { ErrorNote } from '../parts/error-note.js'
import { dismissErrors } from '../parts/toast.js'
import { useConnectionProblem } from './live-provider.js'
import { useSession } from './session.js'

/**
 * A note that the server is unreachable or the environment was removed, shown in every view. The
 * inspector keeps trying to connect. When it succeeds, the note and all error toasts disappear.
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
 * Hides an error during a connection problem. `ConnectionNote` already shows the problem, which is
 * the likely cause of the error.
 */
export function WhileConnected({ children }: { children: ComponentChildren }) {
  return useConnectionProblem() ? null : <>{children}</>
}

/**
 * Shows why the data of a dialog or popover couldn't be loaded. During a connection problem, shows
 * the same text as `ConnectionNote`, which the dialog or popover may cover.
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
