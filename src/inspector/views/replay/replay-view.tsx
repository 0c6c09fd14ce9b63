import type { ReplayedRequest, ReplayState } from '../../../client/index.js'
import { Callout } from '../../parts/chip.js'
import { EmptyList, EmptyPane } from '../../parts/empty.js'
import { ErrorNote } from '../../parts/error-note.js'
import { Icon } from '../../parts/icon.js'
import { Pane, Panes } from '../../parts/pane.js'
import { useCommands } from '../../shell/commands.js'
import { useConnectionProblem } from '../../shell/live-provider.js'
import { hrefTo, navigate, type Route } from '../../shell/router.js'
import { useCloseOnEscape } from '../records/records-view.js'
import { ReplayedRequestList } from './request-list.js'
import { ReplayedRequestPane } from './request-pane.js'
import './replay.css'
import { useReplay, useSendNext } from './use-replay.js'

/**
 * Shows the requests of the test that `notification-mock open` has reopened, and whether each was
 * repeated. `#/replay/<sequence>` opens a request.
 */
export function ReplayView({ route }: { route: Route }) {
  const { value: replay, error, reload } = useReplay()
  const problem = useConnectionProblem()
  const { rest } = route
  const back = hrefTo(['replay'])
  useCloseOnEscape(back)
  const open = replay && findOpen(replay, Number(rest[0]))
  return (
    <div class="view">
      <h1 class="visually-hidden">Replay</h1>
      <Panes isOpen={rest.length > 0}>
        <Pane
          label="Recorded requests"
          head={replay && <Progress replay={replay} reload={reload} />}
        >
          {error !== undefined && !problem && <ErrorNote error={error} retry={reload} />}
          {replay?.requests.length === 0 && (
            <EmptyList title="No requests">The test sent no requests.</EmptyList>
          )}
          {replay && <ReplayedRequestList requests={replay.requests} open={open} href={hrefOf} />}
        </Pane>
        {open ? (
          <ReplayedRequestPane request={open} back={rest[0] === undefined ? undefined : back} />
        ) : (
          <EmptyPane back={rest[0] && back}>
            {replay && rest[0] !== undefined && `The test has no request ${rest[0]}.`}
          </EmptyPane>
        )}
      </Panes>
    </div>
  )
}

const hrefOf = (sequence: number) => hrefTo(['replay', `${sequence}`])

/**
 * Returns the request with this sequence number. If the number is `NaN`, returns the next request
 * to repeat. If all requests were repeated, returns the first one with a different response, or
 * else the last one.
 */
function findOpen({ requests }: ReplayState, sequence: number): ReplayedRequest | undefined {
  if (!Number.isNaN(sequence)) return requests.find((request) => request.sequence === sequence)
  const find = (result: ReplayedRequest['result']) =>
    requests.find((request) => request.result === result)
  return find('next') ?? find('different') ?? requests.at(-1)
}

interface ProgressProps {
  replay: ReplayState
  reload(): void
}

/** The test's title, how many requests were repeated, and the button that sends the next one. */
function Progress({ replay: { title, warnings, requests }, reload }: ProgressProps) {
  const { sendNext, isSending } = useSendNext(({ sequence }) => {
    navigate(hrefOf(sequence))
    reload()
  })
  const hasNext = requests.some(({ result }) => result === 'next')
  useCommands(hasNext ? [{ name: 'Send the next recorded request', run: sendNext }] : [])
  return (
    <div class="head replay-progress">
      <h2 dir="auto">{title}</h2>
      {warnings.map((warning) => (
        <Callout key={warning} tone="warn" icon="warn">
          <span class="callout-text">{warning}</span>
        </Callout>
      ))}
      <div class="line">
        <button class="primary" disabled={!hasNext} onClick={sendNext}>
          <Icon name="send" />
          {isSending ? 'Sending…' : 'Send next'}
        </button>
        <span class="hint" role="status">
          {describeProgress(requests)}
        </span>
      </div>
    </div>
  )
}

function describeProgress(requests: readonly ReplayedRequest[]): string {
  const different = requests.filter(({ result }) => result === 'different').length
  const repeated = requests.filter(({ result }) => result === 'equal').length + different
  const progress = `${repeated} of ${requests.length} requests repeated`
  if (repeated === 0) return progress
  if (different === 0) return `${progress}, none with a different response`
  return `${progress}, ${different} with a different response`
}
