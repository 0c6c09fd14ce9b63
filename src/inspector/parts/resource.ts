import { useCallback, useEffect, useRef, useState } from 'preact/hooks'

/** Something that is loaded. While it is loaded again, the last value stays. */
export interface Resource<Value> {
  value: Value | undefined
  error: unknown
  isLoading: boolean
  /** Whether the person has asked for what is loaded, or was loaded last. */
  isAsked: boolean
  /** Whether what the person has asked for is being loaded. Else a button that is being clicked must not go off. */
  isBusy: boolean
  reload(): void
}

/**
 * Loads a value, and again when an input changes. What an earlier input brings too late is dropped. `isAsked` says that
 * the person wants it again, by `reload`.
 */
export function useResource<Value>(
  load: (signal: AbortSignal, isAsked: boolean) => Promise<Value>,
  inputs: readonly unknown[]
): Resource<Value> {
  const [state, setState] = useState<Omit<Resource<Value>, 'reload' | 'isBusy'>>({
    value: undefined,
    error: undefined,
    isLoading: true,
    isAsked: false
  })
  const [round, setRound] = useState(0)
  const latest = useRef(load)
  latest.current = load
  const loaded = useRef(round)
  useEffect(() => {
    const controller = new AbortController()
    const { signal } = controller
    const isAsked = loaded.current !== round
    loaded.current = round
    setState(({ value, error }) => ({ value, error, isLoading: true, isAsked }))
    latest.current(signal, isAsked).then(
      (value) => signal.aborted || setState({ value, error: undefined, isLoading: false, isAsked }),
      (error) => signal.aborted || setState(({ value }) => ({ value, error, isLoading: false, isAsked }))
    )
    return () => controller.abort()
  }, [...inputs, round])
  const reload = useCallback(() => {
    // At once, so that nobody takes what is there for what was asked for.
    setState((before) => ({ ...before, isLoading: true, isAsked: true }))
    setRound((count) => count + 1)
  }, [])
  return { ...state, isBusy: state.isLoading && state.isAsked, reload }
}
