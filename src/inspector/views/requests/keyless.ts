import { useEffect, useState } from 'preact/hooks'
import type { RecordedRequest } from '../../../client/index.js'
import { type Feed, MAX_KEPT, NOTHING } from '../../shell/live.js'
import { useSession } from '../../shell/session.js'

/** Milliseconds from one look to the next. */
const INTERVAL = 1000

/** The requests without a valid key, looked for each second while `isShown`. */
export function useKeyless(isShown: boolean): { feed: Feed; error: unknown; reload(): void } {
  const { mock } = useSession()
  const [feed, setFeed] = useState(NOTHING)
  const [error, setError] = useState<unknown>()
  const [round, setRound] = useState(0)
  useEffect(() => {
    if (!isShown) return
    let timer: ReturnType<typeof setTimeout> | undefined
    let isOver = false
    let ended: readonly RecordedRequest[] = []
    let received = 0
    let emptied = 0
    const look = async () => {
      // Again from the oldest one that is still in progress.
      const after = ended.at(-1)?.sequence ?? 0
      const listed = await mock.keylessRequests({ after })
      if (isOver) return
      const pending = listed.findIndex(({ duration }) => duration === undefined)
      const came = pending === -1 ? listed : listed.slice(0, pending)
      received += came.length
      ended = [...ended, ...came].slice(-MAX_KEPT)
      if (came.length > 0 || after === 0) setFeed({ ...NOTHING, requests: ended, received, emptied })
      setError(undefined)
    }
    const run = async () => {
      await look().catch((reason) => {
        // The server may have been started again, and count from 1.
        ended = []
        received = 0
        emptied += 1
        if (!isOver) setError(reason)
      })
      if (!isOver) timer = setTimeout(run, INTERVAL)
    }
    void run()
    return () => {
      isOver = true
      clearTimeout(timer)
    }
  }, [mock, isShown, round])
  return { feed, error, reload: () => setRound((count) => count + 1) }
}
