import { useCallback, useEffect, useRef, useState } from 'preact/hooks'

/** A value that is loaded. The last value stays while it is loaded again. */
export interface Resource<Value> {
  value: Value | undefined
  error: unknown
  isLoading: boolean
  reload(): void
}

/**
 * Loads a value, and loads it again when an input changes or the user calls `reload`; `load` learns
 * which of the two it was. A result that arrives after a newer load has started is dropped.
 */
export function useResource<Value>(
  load: (isUserAction: boolean) => Promise<Value>,
  inputs: readonly unknown[]
): Resource<Value> {
  type State = Omit<Resource<Value>, 'reload'>
  const [state, setState] = useState<State>({ value: undefined, error: undefined, isLoading: true })
  const [round, setRound] = useState(0)
  const isUserAction = useRef(false)
  useEffect(() => {
    let isOutdated = false
    const update = (part: Partial<State>) => {
      if (isOutdated) return
      setState((before) => ({ ...before, error: undefined, isLoading: false, ...part }))
    }
    update({ isLoading: true })
    load(isUserAction.current).then(
      (value) => update({ value }),
      (error) => update({ error })
    )
    isUserAction.current = false
    return () => {
      isOutdated = true
    }
  }, [...inputs, round])
  const reload = useCallback(() => {
    isUserAction.current = true
    setRound((count) => count + 1)
  }, [])
  return { ...state, reload }
}
