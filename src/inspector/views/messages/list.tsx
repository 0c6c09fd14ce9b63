import { moveFocus } from '../../parts/keys.js'
import { shortTime } from '../../parts/times.js'
import { addressOf, go } from '../../shell/router.js'
import type { Message } from './query.js'
import { titleOf } from './summary.js'
import '../../parts/items.css'

interface Props {
  messages: readonly Message[]
  chosen: string | undefined
  /** The parameters of the address, which a message's has too. */
  params: Record<string, string | readonly string[] | undefined>
}

/** One page of messages. The arrow keys go from one to the next. */
export function MessageList({ messages, chosen, params }: Props) {
  // The list is one stop of Tab.
  const stop = (messages.find(({ _id }) => _id === chosen) ?? messages[0])?._id
  return (
    <ul class="items is-short" aria-label="Messages of this page" onKeyDown={moveFocus}>
      {messages.map((message) => {
        const { _id = '', channel, createdAt, subscriber, read, seen, status } = message
        return (
          <li key={_id}>
            <a
              data-item
              tabIndex={_id === stop ? 0 : -1}
              href={addressOf(['messages', _id], params)}
              aria-current={_id === chosen ? 'true' : undefined}
              // As one goes through the list, what is open follows.
              onFocus={() => chosen !== undefined && go(addressOf(['messages', _id], params), { replace: true })}
            >
              <span class="badge channel-mark">{channel}</span>
              <span class="name" dir="auto">
                {titleOf(message)}
              </span>
              <span class="marks">
                {status !== 'sent' && (
                  <span class={`badge ${status === 'error' ? 'is-bad' : 'is-warn'}`}>{status}</span>
                )}
                {read ? (
                  <span class="badge">read</span>
                ) : seen ? (
                  <span class="badge">seen</span>
                ) : (
                  <span class="badge is-accent">unread</span>
                )}
              </span>
              <span class="below hint">
                <bdi>{subscriber?.subscriberId ?? 'no subscriber'}</bdi>
                <time dateTime={createdAt}>{shortTime(createdAt)}</time>
              </span>
            </a>
          </li>
        )
      })}
    </ul>
  )
}
