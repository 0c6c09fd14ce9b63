import { useEffect, useState } from 'preact/hooks'
import { useSession } from '../../shell/session.js'

/** Milliseconds from one look to the next. */
const INTERVAL = 1000

/** How many requests have come without a valid key, as far as the page may see them. */
export function useKeylessCount(): number {
  const { mock, listed } = useSession()
  const [count, setCount] = useState(0)
  const isAllowed = listed !== undefined
  useEffect(() => {
    if (!isAllowed) return
    const look = async () => {
      if (document.hidden) return
      const [newest] = await mock.keylessRequests({ order: 'newest', limit: 1 }).catch(() => [])
      setCount(newest?.sequence ?? 0)
    }
    void look()
    const timer = setInterval(look, INTERVAL)
    return () => clearInterval(timer)
  }, [mock, isAllowed])
  return count
}
