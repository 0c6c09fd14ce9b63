import './messages.css'
import { useState } from 'preact/hooks'
import type { NewMessage } from '../../../client/index.js'
import { CHANNELS } from '../../parts/channels.js'
import { useResource } from '../../parts/resource.js'
import { shortTime, timeText } from '../../parts/times.js'
import { addressOf, go, type Route } from '../../shell/router.js'
import { lookOptions, useSession } from '../../shell/session.js'
import { useAct, useService } from '../acts.js'
import { fieldsOf, RecordPane } from '../record.js'
import { lineOf, RecordsView } from '../records.js'
import { Preview } from './preview.js'
import { type Loaded, loadMessages, type Message, recipientOf, summaryOf } from './query.js'

/** The messages as a mail reader has them; `#/messages/<id>` shows one beside the list. */
export function MessagesView({ route }: { route: Route }) {
  const { env, version } = useSession()
  const ask = useService()
  const line = lineOf(route.params)
  const [more, setMore] = useState({ line, pages: 1 })
  const pages = more.line === line ? more.pages : 1
  const resource = useResource(
    (_, isAsked) => loadMessages((path) => ask('GET', path, lookOptions(isAsked)), line, pages),
    [env, line, pages, version]
  )
  const { value, error, isLoading } = resource
  const { data = [], hasMore, reason, totalCount = 0 }: Partial<Loaded> = (error === undefined && value) || {}
  const count = data.length.toLocaleString()
  const total = totalCount > data.length ? ` of ${totalCount.toLocaleString()}` : hasMore ? '+' : ''
  return (
    <RecordsView
      title="Messages"
      route={route}
      search={{
        placeholder: 'subscriber, transaction, channel:email',
        hint: 'An id of a subscriber or of transactions, or channel: subscriber: transaction: tenant:acme context:none',
        isByEnter: true
      }}
      count={value && `${count}${total}`}
      resource={resource}
      label="Messages, newest first"
      items={data}
      onEnd={() => hasMore && !isLoading && setMore({ line, pages: pages + 1 })}
      pathOf={({ _id = '' }) => [_id]}
      rowOf={rowOf}
      open={data.find(({ _id }) => _id === route.rest[0])}
      pane={(message, back) => <MessagePane key={message._id} message={message} back={back} />}
      reason={line === '' ? 'Add one, or load a seed that has some.' : reason}
      add={{
        title: 'Add a message',
        fields: <MessageFields />,
        // The server checks it.
        submit: async (fields) => (await env.messages.add(fields as NewMessage))._id
      }}
    />
  )
}

/** The few fields of a message that people fill. */
function MessageFields() {
  const field = (name: string, words: string, Input: 'input' | 'textarea' = 'input') => (
    <label>
      {words}
      <Input name={name} dir="auto" autofocus={name === 'subscriberId'} />
    </label>
  )
  return (
    <>
      {field('subscriberId', 'Subscriber')}
      <fieldset class="line choices" aria-label="Channel">
        {CHANNELS.map((each, index) => (
          <label key={each}>
            <input type="radio" name="channel" value={each} defaultChecked={index === 0} />
            {each}
          </label>
        ))}
      </fieldset>
      {field('workflow', 'Workflow')}
      {field('transactionId', 'Transaction')}
      {field('subject', 'Subject')}
      {field('content', 'Content', 'textarea')}
    </>
  )
}

const TONES = { sent: undefined, warning: 'warn', error: 'bad' } as const

function rowOf(message: Message) {
  const { channel, createdAt, read, status, errorText } = message
  const { title, rest } = summaryOf(message)
  const more = status === 'sent' ? rest : `${status}: ${errorText ?? 'without a text'}`
  return {
    tone: TONES[status] ?? (read ? undefined : ('accent' as const)),
    end: <time dateTime={createdAt}>{shortTime(createdAt).slice(5, 16)}</time>,
    note: (
      <>
        {channel} · <bdi>{recipientOf(message)}</bdi>
        {more && ` — ${more}`}
      </>
    ),
    children: (
      <span class={read ? undefined : 'is-unread'} dir="auto">
        {title}
        {!read && <span class="visually-hidden"> (unread)</span>}
      </span>
    )
  }
}

/** One message: as its subscriber sees it, and as JSON. */
function MessagePane({ message, back }: { message: Message; back: string }) {
  const { env } = useSession()
  const act = useAct()
  const { _id = '', read, createdAt, status, errorText, errorId = '', providerId, contextKeys = [] } = message
  const fields = fieldsOf(message)
  const mark = () =>
    act(() => env.messages.change(_id, { read: !read, seen: true }), read ? 'It is unread' : 'It is read')
  const remove = () => env.messages.remove(_id).then(() => go(back))
  const putBack = () => env.messages.add(fields as NewMessage).then(() => go(addressOf(['messages', _id])))
  const sent = [recipientOf(message), message.email ?? message.phone, providerId && `through ${providerId}`]
  return (
    <RecordPane
      noun="message"
      title={summaryOf(message).title}
      facts={[...sent, message.transactionId, ...contextKeys, timeText(createdAt)]}
      problem={status !== 'sent' && `${errorText ?? `Its status is ${status}, without a text`} ${errorId}`}
      back={back}
      actions={[
        { name: read ? 'Mark as unread' : 'Mark as read', run: mark },
        { name: 'Delete', isDanger: true, run: () => act(remove, 'Deleted the message', putBack) }
      ]}
      json={message}
      fields={fields}
      save={(changes) => env.messages.change(_id, changes)}
      look={{ title: 'As received', content: () => <Preview message={message} /> }}
    />
  )
}
