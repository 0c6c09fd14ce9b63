import { useCallback, useEffect, useRef, useState } from 'preact/hooks'

interface State<Value> {
  value: Value | undefined
  error: unknown
  isLoading: boolean
}

/** Something that is loaded. While it is loaded again, the last value stays. */
export interface Resource<Value> extends State<Value> {
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
  const [state, setState] = useState<State<Value>>({ value: undefined, error: undefined, isLoading: true })
  const [round, setRound] = useState(0)
  const loaded = useRef(round)
  const change = (part: Partial<State<Value>>) => setState((before) => ({ ...before, ...part }))
  useEffect(() => {
    const controller = new AbortController()
    const { signal } = controller
    const isAsked = loaded.current !== round
    loaded.current = round
    change({ error: undefined, isLoading: true })
    load(signal, isAsked).then(
      (value) => signal.aborted || change({ value, error: undefined, isLoading: false }),
      (error) => signal.aborted || change({ error, isLoading: false })
    )
    return () => controller.abort()
  }, [...inputs, round])
  const reload = useCallback(() => {
    // At once, so that nobody takes what is there for what was asked for.
    change({ isLoading: true })
    setRound((count) => count + 1)
  }, [])
  return { ...state, reload }
}
