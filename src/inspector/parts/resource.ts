import { useCallback, useEffect, useRef, useState } from 'preact/hooks'

/** A loaded value. During a reload, the previous value stays available. */
export interface Resource<Value> {
  value: Value | undefined
  error: unknown
  isLoading: boolean
  reload(): void
}

/**
 * Loads a value, and loads it again when an input changes or `reload` is called. `isUserAction` is
 * true only if `reload` started the load. Ignores the result if a newer load has started.
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
