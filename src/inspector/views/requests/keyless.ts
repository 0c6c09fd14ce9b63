import { useEffect, useState } from 'preact/hooks'
import type { RecordedRequest } from '../../../client/index.js'
import { type Feed, MAX_KEPT, NOTHING } from '../../shell/live.js'
import { useSession } from '../../shell/session.js'

/** Milliseconds from one look to the next. */
const INTERVAL = 1000

/** The requests without a valid key, looked for each second if the page may see them. */
export function useKeyless(isAllowed: boolean): { feed: Feed; error: unknown; reload(): void } {
  const { mock } = useSession()
  const [feed, setFeed] = useState<Feed>(NOTHING)
  const [error, setError] = useState<unknown>()
  const [round, setRound] = useState(0)
  useEffect(() => {
    if (!isAllowed) return
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
      // The same, if nothing changed: what shows it need not render again.
      setFeed((was) =>
        came.length === 0 && was.emptied === emptied ? was : { ...NOTHING, requests: ended, received, emptied }
      )
      setError(undefined)
    }
    const run = async () => {
      // A tab that is not seen asks for nothing.
      if (document.hidden) {
        timer = setTimeout(run, INTERVAL)
        return
      }
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
  }, [mock, isAllowed, round])
  return { feed, error, reload: () => setRound((count) => count + 1) }
}
