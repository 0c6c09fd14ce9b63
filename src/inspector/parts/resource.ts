import { useCallback, useEffect, useRef, useState } from 'preact/hooks'

interface State<Value> {
  value: Value | undefined
  error: unknown
  isLoading: boolean
  /** Whether the person has asked for what is loaded, or was loaded last. */
  isAsked: boolean
}

/** Something that is loaded. While it is loaded again, the last value stays. */
export interface Resource<Value> extends State<Value> {
  /** Whether what the person has asked for is being loaded. Else a button that is being clicked must not go off. */
  isBusy: boolean
  reload(): void
}

const NOTHING = { value: undefined, error: undefined, isLoading: true, isAsked: false }

/**
 * Loads a value, and again when an input changes. What an earlier input brings too late is dropped. `isAsked` says that
 * the person wants it again, by `reload`.
 */
export function useResource<Value>(
  load: (signal: AbortSignal, isAsked: boolean) => Promise<Value>,
  inputs: readonly unknown[]
): Resource<Value> {
  const [state, setState] = useState<State<Value>>(NOTHING)
  const [round, setRound] = useState(0)
  const loaded = useRef(round)
  useEffect(() => {
    const controller = new AbortController()
    const isAsked = loaded.current !== round
    loaded.current = round
    const change = (part: Partial<State<Value>>) => {
      if (!controller.signal.aborted) setState((before) => ({ ...before, isAsked, isLoading: false, ...part }))
    }
    change({ error: undefined, isLoading: true })
    load(controller.signal, isAsked).then(
      (value) => change({ value, error: undefined }),
      (error) => change({ error })
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
