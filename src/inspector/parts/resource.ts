import { useCallback, useEffect, useState } from 'preact/hooks'

/** Something that is loaded. While it is loaded again, the last value stays. */
export interface Resource<Value> {
  value: Value | undefined
  error: unknown
  isLoading: boolean
  reload(): void
}

/** Loads a value, and again when an input changes or the person asks for it, by `reload`. What comes too late is dropped. */
export function useResource<Value>(
  load: (isAsked: boolean) => Promise<Value>,
  inputs: readonly unknown[]
): Resource<Value> {
  type State = Omit<Resource<Value>, 'reload'>
  const [state, setState] = useState<State>({ value: undefined, error: undefined, isLoading: true })
  const [round, start] = useState({ isAsked: false })
  useEffect(() => {
    const late = new AbortController()
    const change = (part: Partial<State>) =>
      late.signal.aborted ||
      setState((before) => ({ ...before, error: undefined, isLoading: false, ...part }))
    change({ isLoading: true })
    load(round.isAsked).then(
      (value) => change({ value }),
      (error) => change({ error })
    )
    // An input that changes later asks for nothing.
    round.isAsked = false
    return () => late.abort()
  }, [...inputs, round])
  return { ...state, reload: useCallback(() => start({ isAsked: true }), []) }
}
