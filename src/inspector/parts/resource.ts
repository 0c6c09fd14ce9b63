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

/** Loads a value, and again when an input changes or the person asks for it, by `reload`. What comes too late is dropped. */
export function useResource<Value>(
  load: (isAsked: boolean) => Promise<Value>,
  inputs: readonly unknown[]
): Resource<Value> {
  const [state, setState] = useState<State<Value>>({ value: undefined, error: undefined, isLoading: true })
  const latest = useRef({ load, count: 0 }).current
  latest.load = load
  const start = useCallback((isAsked: boolean) => {
    const count = ++latest.count
    const change = (part: Partial<State<Value>>) =>
      count === latest.count && setState((before) => ({ ...before, error: undefined, isLoading: false, ...part }))
    change({ isLoading: true })
    latest.load(isAsked).then(
      (value) => change({ value }),
      (error) => change({ error })
    )
  }, [])
  useEffect(() => {
    start(false)
    return () => void latest.count++
  }, inputs)
  return { ...state, reload: useCallback(() => start(true), []) }
}
