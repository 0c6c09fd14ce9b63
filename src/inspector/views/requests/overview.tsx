import { Fragment } from 'preact'
import { useState } from 'preact/hooks'
import type { Hint, RecordedRequest } from '../../../client/index.js'
import { type Tone, toneClass } from '../../parts/chip.js'
import { CopyButton } from '../../parts/copy.js'
import { Empty } from '../../parts/empty.js'
import { Close, Pane, Scroll } from '../../parts/pane.js'
import { EventRow } from '../../parts/row.js'
import { useToasts } from '../../parts/toast.js'
import type { Feed } from '../../shell/live.js'
import { environmentAddress } from '../../shell/panel.js'
import { useSession } from '../../shell/session.js'
import { useElsewhere } from './elsewhere.js'
import { HintLine } from './hints.js'
import { useKeylessCount } from './keyless.js'
import { changeText } from './rows.js'

/** Changes that are told. */
const LAST_CHANGES = 8

interface OverviewProps {
  feed: Feed
  hints: readonly Hint[]
  href(sequence: number): string
  /** The address that closes it, where it was asked for. */
  back: string | undefined
  /** The address of the list as a line of search leaves it. */
  found(line: string): string
}

/** What there is to say of all requests, while none is open. */
export function Overview({ feed, hints, href, back, found }: OverviewProps) {
  const { requests, changes, hasMore } = feed
  const count = (isMeant: (request: RecordedRequest) => boolean) => requests.filter(isMeant).length
  const figures: [count: number, title: string, line: string, tone: Tone | undefined][] = [
    [requests.length, 'requests', '', undefined],
    [count(({ status = 0 }) => status >= 400 && status < 500), 'refused', 'status:4xx', 'warn'],
    [count(({ status = 0 }) => status >= 500), 'failed', 'status:5xx', 'bad'],
    [
      count(({ status, duration }) => status === undefined && duration !== undefined),
      'not answered',
      'status:none',
      'bad'
    ]
  ]
  return (
    <Pane
      label="Overview"
      head={
        back !== undefined && (
          <div class="head head-alone">
            <Close back={back} />
          </div>
        )
      }
    >
      <Scroll>
        <div class="figures">
          {figures.map(
            ([number, title, line, tone]) =>
              (number > 0 || line === '') && (
                <a key={title} href={found(line)}>
                  <b class={`big toned ${toneClass(tone)}`}>
                    {number.toLocaleString()}
                    {hasMore && '+'}
                  </b>
                  <span class="hint">{title}</span>
                </a>
              )
          )}
        </div>
        {hints.length > 0 && (
          <section>
            <h2 class="section">What the app probably does not mean</h2>
            <ol class="card">
              {hints.map((hint) => (
                <li key={hint.message}>
                  <HintLine hint={hint} href={href} />
                </li>
              ))}
            </ol>
          </section>
        )}
        {changes.length > 0 && (
          <section>
            <h2 class="section">What was changed last</h2>
            <ol class="card">
              {changes
                .slice(-LAST_CHANGES)
                .reverse()
                .map((change) => (
                  <li key={change.sequence}>
                    <EventRow title={change.time}>{changeText(change)}</EventRow>
                  </li>
                ))}
            </ol>
          </section>
        )}
      </Scroll>
    </Pane>
  )
}

/** In place of the list while nothing has come. */
export function NoRequests({ keylessHref }: { keylessHref: string }) {
  const keyless = useKeylessCount()
  const { env, call } = useSession()
  const { run } = useToasts()
  const [isSending, setSending] = useState(false)
  const elsewhere = useElsewhere()
  const command = (key: string) => `curl -H 'Authorization: ApiKey ${key}' ${env.url}/v1/messages`
  const send = async () => {
    setSending(true)
    await run(() => call('GET', '/v1/messages'))
    setSending(false)
  }
  return (
    <Empty title="Nothing has come yet">
      <p>Point your app at this server, with the key of this environment, and each of its requests shows up here.</p>
      {keyless > 0 && (
        <p>
          {keyless === 1 ? 'One request has' : `${keyless.toLocaleString()} requests have`} come without a valid key:{' '}
          <a href={keylessHref}>what is wrong with it</a>
        </p>
      )}
      {elsewhere.length > 0 && (
        <p>
          Requests have come with the key of{' '}
          {elsewhere.map((name, index) => (
            <Fragment key={name}>
              {index > 0 && ', '}
              <a dir="auto" href={environmentAddress('requests', { name })}>
                {name}
              </a>
            </Fragment>
          ))}
        </p>
      )}
      <code class="callout">{command('…')}</code>
      <div class="line">
        <CopyButton text={() => command(env.apiKey)}>Copy with the key</CopyButton>
        <button type="button" class="primary" disabled={isSending} onClick={send}>
          Send one from here
        </button>
      </div>
      <p class="hint">A server that was started with --journal 0 records none.</p>
    </Empty>
  )
}
