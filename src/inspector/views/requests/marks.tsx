import type { RecordedRequest } from '../../../client/index.js'

/** The status of an answer in the colour of its class. */
export function Status({ request: { status } }: { request: RecordedRequest }) {
  const tone = status === undefined || status >= 500 ? 'is-bad' : status >= 400 ? 'is-warn' : 'is-good'
  return <span class={`badge ${tone}`}>{status ?? 'none'}</span>
}

/** What else is to be known of a request, each as a word or two. */
export function Marks({ request }: { request: RecordedRequest }) {
  return (
    <>
      {marksOf(request).map(([text, tone]) => (
        <span key={text} class={`badge ${tone}`} dir="auto">
          {text}
        </span>
      ))}
    </>
  )
}

function marksOf({ flags, unread, status, duration }: RecordedRequest): [text: string, tone: string][] {
  const { replayed, faulted, unserved, delayed } = flags
  const names = [...unread.query, ...unread.headers]
  const marks: [string | false | undefined, string][] = [
    [status === undefined && (duration === undefined ? 'in progress' : 'no answer'), 'is-bad'],
    [replayed && 'replayed', 'is-accent'],
    [faulted !== undefined && 'faulted', 'is-bad'],
    [delayed !== undefined && `delayed ${formatDuration(delayed)}`, 'is-warn'],
    [unserved && 'unserved', 'is-warn'],
    [names.length > 0 && `unread: ${names.slice(0, 3).join(', ')}${names.length > 3 ? ', …' : ''}`, 'is-warn']
  ]
  return marks.flatMap(([text, tone]): [string, string][] => (text ? [[text, tone]] : []))
}

/** A length of time as people read it. */
export function formatDuration(milliseconds: number | undefined): string {
  if (milliseconds === undefined) return ''
  if (milliseconds >= 10_000) return `${(milliseconds / 1000).toFixed(1)} s`
  return `${milliseconds < 10 ? milliseconds.toFixed(1) : Math.round(milliseconds)} ms`
}

/** The time of day of an ISO time, in UTC. */
export function timeOfDay(time: string): string {
  return time.slice(11, 23)
}
