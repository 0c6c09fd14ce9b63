import { useEffect } from 'preact/hooks'

const INTERVAL = 2000

/** Calls a function every two seconds while the page is visible. */
export function useRepeat(run: () => unknown): void {
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden) run()
    }, INTERVAL)
    return () => clearInterval(timer)
  }, [run])
}
