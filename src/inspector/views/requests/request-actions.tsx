import { useState } from 'preact/hooks'
import type { RecordedExchange } from '../../../client/index.js'
import { CopyButton, copyText } from '../../parts/copy.js'
import { Icon } from '../../parts/icon.js'
import { type Action, ActionMenu } from '../../parts/popover.js'
import { runWithToast } from '../../parts/toast.js'
import { useCommands } from '../../shell/commands.js'
import { hrefTo, navigate } from '../../shell/router.js'
import { useSession } from '../../shell/session.js'
import { TIMES, useAddFault } from '../faults/fault-choices.js'
import { useAddStub } from '../stubs/stubs.js'
import type { TitledResponse } from './comparison.js'
import { repeatable, toCurl, toFetch, toVerification } from './copy-as.js'
import { findRecorded } from './find-recorded.js'
import { targetOf } from './format-request.js'
import type { ListedRequests } from './use-requests.js'

interface Props {
  exchange: RecordedExchange
  listed: ListedRequests
  compareWith(response: TitledResponse): void
}

/** The actions for a request. A request without a valid API key can only be copied and compared. */
export function RequestActions({ exchange, listed, compareWith }: Props) {
  const { env } = useSession()
  const { operation, bodyLength, flags } = exchange
  const addStub = useAddStub()
  const canBeSent = !listed.isUnauthenticatedList
  const replay = useReplay(exchange, listed)
  const [replaying, setReplaying] = useState<number>()
  const isReplaying = replaying === exchange.sequence
  const onReplay = async () => {
    setReplaying(exchange.sequence)
    await runWithToast(async () => compareWith(await replay()))
    // By now, the user may be replaying another request. Its state must not be reset.
    setReplaying((current) => (current === exchange.sequence ? undefined : current))
  }
  const copy = (toText: () => string) => runWithToast(() => copyText(toText()), 'Copied')
  const copyActions = [
    { name: 'Copy as fetch', run: () => copy(() => toFetch(env, exchange)) },
    { name: 'Copy as a verify() call for a test', run: () => copy(() => toVerification(exchange)) }
  ]
  // A request whose body was truncated can't be sent again.
  const canReplay = canBeSent && bodyLength === undefined
  useRequestCommands(exchange, { canBeSent, replay: canReplay ? onReplay : undefined })
  return (
    <div class="line">
      {canBeSent && (
        <button
          class="primary"
          disabled={!canReplay}
          // Not `disabled` during a replay, because the button would lose the focus.
          aria-disabled={isReplaying}
          onClick={isReplaying ? undefined : onReplay}
        >
          <Icon name="again" />
          {isReplaying ? 'Replaying…' : 'Replay'}
        </button>
      )}
      {canBeSent && (
        <a class="button" href={hrefToEdit(exchange)}>
          Edit and resend
        </a>
      )}
      <CopyButton text={() => toCurl(env, repeatable(exchange))}>Copy as curl</CopyButton>
      <CompareMenu exchange={exchange} listed={listed} compareWith={compareWith} />
      {flags.unmocked && canBeSent && <button onClick={() => addStub(exchange)}>Add a stub</button>}
      {operation && canBeSent && <FailNextMenu exchange={exchange} />}
      <ActionMenu label="More copy formats" groups={[{ actions: copyActions }]} />
    </div>
  )
}

const hrefToEdit = ({ sequence }: RecordedExchange) =>
  hrefTo(['requests', 'new'], { from: `${sequence}` })

interface RequestCommands {
  canBeSent: boolean
  /** Replays the request; undefined if the request can't be replayed. */
  replay: (() => unknown) | undefined
}

/** Adds commands for the open request to the palette. */
function useRequestCommands(exchange: RecordedExchange, { canBeSent, replay }: RequestCommands) {
  const hint = `#${exchange.sequence} ${exchange.method} ${targetOf(exchange)}`
  const commands: Action[] = []
  if (canBeSent) {
    const edit = () => navigate(hrefToEdit(exchange))
    commands.push({ icon: 'send', name: 'Edit and resend', hint, isReadOnly: true, run: edit })
  }
  if (replay) commands.push({ icon: 'again', name: 'Replay the open request', hint, run: replay })
  useCommands(commands)
}

/** Returns a function that sends a request again and returns the new response. */
function useReplay(exchange: RecordedExchange, { source }: ListedRequests) {
  const { call } = useSession()
  return async (): Promise<TitledResponse> => {
    const { method, path, ...options } = repeatable(exchange)
    const response = await call(method, path, options)
    // Prefer the journal's copy of the response. Its secrets are masked in the same way as in the
    // original response, so they don't appear as differences.
    const recorded = await findRecorded(source, response)
    if (recorded) return { ...recorded, title: 'Now' }
    const { status, duration, headers, text } = response
    return { title: 'Now', status, duration, response: { status, headers, body: text } }
  }
}

/** The maximum number of requests that the Compare menu offers. */
const MAX_COMPARED = 10

function CompareMenu({ exchange, listed: { source, requests }, compareWith }: Props) {
  const isSimilar = ({ sequence, operation, method }: RecordedExchange) =>
    sequence !== exchange.sequence && operation === exchange.operation && method === exchange.method
  const compare = async (sequence: number) =>
    compareWith({ ...(await source.get(sequence)), title: `#${sequence}` })
  const actions = requests
    .filter(isSimilar)
    .slice(0, MAX_COMPARED)
    .map((request) => ({
      name: `#${request.sequence} ${request.status ?? 'none'} ${targetOf(request)}`,
      run: () => runWithToast(() => compare(request.sequence))
    }))
  if (actions.length === 0) return null
  return <ActionMenu button="Compare" label="Compare with another request" groups={[{ actions }]} />
}

const OFFERED_EFFECTS = ['500', '503', 'Timeout', 'Lost response']

/** A menu that adds a fault rule, so that the next requests with this operation and path fail. */
function FailNextMenu({ exchange: { operation, path, method } }: Pick<Props, 'exchange'>) {
  const addFault = useAddFault()
  const groups = OFFERED_EFFECTS.map((effect) => ({
    actions: Object.keys(TIMES).map((times) => ({
      name: `${effect} ${times}`,
      run: () => addFault({ operation, match: { path } }, effect, times, `${method} ${path}`)
    }))
  }))
  const button = [<Icon key="icon" name="bolt" />, 'Fail next']
  return <ActionMenu button={button} label="Fail the next similar requests" groups={groups} />
}
