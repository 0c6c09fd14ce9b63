import type { AnsweredRequest, FaultEffect, NewFaultRule, RecordedRequest } from '../../../client/index.js'
import { copyText } from '../../parts/copy.js'
import { Icon } from '../../parts/icon.js'
import { type ActionGroups, ActionMenu, Popover } from '../../parts/popover.js'
import { useToasts } from '../../parts/toast.js'
import { useFeed } from '../../shell/live.js'
import { useCommands } from '../../shell/palette.js'
import { addressOf } from '../../shell/router.js'
import { useSession } from '../../shell/session.js'
import type { Source } from '../../source.js'
import { curlAgain, fetchAgain, joined, patternOf, sentAgain, verificationSource } from './copies.js'
import type { OtherAnswer } from './detail.js'
import { targetOf } from './rows.js'

/** Requests that are offered to compare with. */
const OFFERED = 10
/** Milliseconds, after which hardly a client still waits. */
const TIMEOUT = 60_000

const EFFECTS: readonly (readonly [name: string, effect: FaultEffect])[] = [
  ['500', { status: 500 }],
  ['503', { status: 503, headers: { 'retry-after': '1' } }],
  ['Timeout', { delay: TIMEOUT }],
  ['Lost answer', { lostAnswer: true }]
]
const TIMES: readonly (readonly [name: string, times: number | 'always'])[] = [
  ['once', 1],
  ['twice', 2],
  ['for ever', 'always']
]

interface ActionsProps {
  request: AnsweredRequest
  source: Source
  isKeyless: boolean
  show(other: OtherAnswer): void
}

/** What one can do with a request that has come. */
export function RequestActions({ request, source, isKeyless, show }: ActionsProps) {
  const { call } = useSession()
  const { run } = useToasts()
  const copy = (text: () => string) => run(() => copyText(text()), 'Copied')
  const replay = () =>
    run(async () => {
      const { method, path, headers, body } = sentAgain(request)
      const sent = { headers: joined(headers), ...(body !== undefined && { body }) }
      const { status, duration, text, headers: answered } = await call(method, path, sent)
      show({ title: 'Now', status, duration, answer: { headers: answered, ...(text && { body: text }) } })
    })
  const copyCurl = () => copy(() => curlAgain(source, request))
  const copies: ActionGroups = [
    {
      actions: [
        { name: 'Copy as fetch', icon: 'copy', run: () => copy(() => fetchAgain(source, request)) },
        {
          name: 'Copy as a verification',
          icon: 'copy',
          hint: 'for a test',
          run: () => copy(() => verificationSource(patternOf(request)))
        },
        {
          name: 'Copy the verification as JSON',
          icon: 'copy',
          run: () => copy(() => JSON.stringify(patternOf(request), null, 2))
        }
      ]
    }
  ]
  useCommands([
    { name: 'Copy this request as curl', run: copyCurl },
    ...(isKeyless ? [] : [{ name: 'Replay this request', run: replay }])
  ])
  const isCut = request.bodyLength !== undefined
  return (
    <>
      {!isKeyless && (
        <button
          type="button"
          class="primary"
          disabled={isCut}
          title={isCut ? 'The journal keeps only the beginning of its body' : 'Sends it again, as the app did'}
          onClick={replay}
        >
          <Icon name="again" />
          Replay
        </button>
      )}
      <button type="button" title="With the key of this environment" onClick={copyCurl}>
        Copy as curl
      </button>
      {!isKeyless && (
        <>
          <Compare request={request} source={source} show={show} />
          {request.operation && <FailNext request={request} />}
          <ActionMenu button={<Icon name="more" />} label="More copies" class="only-icon" groups={copies} />
        </>
      )}
    </>
  )
}

function Compare({ request, source, show }: Omit<ActionsProps, 'isKeyless'>) {
  const { run } = useToasts()
  const { requests } = useFeed()
  const isLike = (other: RecordedRequest) =>
    other.sequence !== request.sequence && other.operation === request.operation && other.method === request.method
  const compare = ({ sequence }: RecordedRequest) =>
    run(async () => {
      const other = await source.request(sequence)
      if (!other?.answer) throw new Error(`Request ${sequence} has no answer to compare with`)
      const { answer, duration } = other
      show({ title: `#${sequence}`, status: answer.status, duration, answer })
    })
  const others = requests.filter(isLike).slice(0, OFFERED)
  const actions = others.map((other) => ({
    name: `#${other.sequence} ${other.status ?? 'none'} ${targetOf(other)}`,
    run: () => compare(other)
  }))
  return (
    <ActionMenu
      button="Compare"
      label="Compare with another request"
      disabled={actions.length === 0}
      title={actions.length === 0 ? 'There is no other request like it' : 'Its answer beside that of another'}
      groups={[{ title: 'With the answer of', actions }]}
    />
  )
}

/** Has the next requests to the same operation and path fail: once, twice or for ever. */
function FailNext({ request: { operation, path, method } }: { request: RecordedRequest }) {
  const { env, changed } = useSession()
  const { run, tell } = useToasts()
  const fail = async (name: string, effect: FaultEffect, times: number | 'always') => {
    const rule: NewFaultRule = { ...(operation && { operation }), match: { path }, times, effect }
    const added = await run(() => env.faults.add(rule))
    if (!added) return
    changed()
    const which =
      times === 'always' ? `Each ${method} ${path}` : `The next ${times === 1 ? '' : `${times} `}${method} ${path}`
    tell(`${which}: ${name}`, {
      name: 'Undo',
      run: async () => {
        await run(() => env.faults.remove(added.id))
        changed()
      }
    })
  }
  return (
    <Popover
      label="Fail the next like this"
      isPadded
      button={
        <>
          <Icon name="bolt" />
          Fail next
        </>
      }
    >
      {(close) => (
        <table class="fail">
          <caption class="hint">
            The next {method} {path} fails with
          </caption>
          <tbody>
            {EFFECTS.map(([name, effect]) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                {TIMES.map(([words, times]) => (
                  <td key={words}>
                    <button
                      type="button"
                      aria-label={`${name} ${words}`}
                      onClick={() => {
                        close()
                        void fail(name, effect, times)
                      }}
                    >
                      {words}
                    </button>
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
          <tfoot>
            <tr>
              <td colSpan={4}>
                <a href={addressOf(['faults'])} onClick={close}>
                  All faults
                </a>
              </td>
            </tr>
          </tfoot>
        </table>
      )}
    </Popover>
  )
}
