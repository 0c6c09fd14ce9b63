import './messages.css'
import { useState } from 'preact/hooks'
import type { NewMessage } from '../../../client/index.js'
import { useResource } from '../../parts/resource.js'
import { Row, type RowProps } from '../../parts/row.js'
import { shortTime, timeText } from '../../parts/times.js'
import type { Route } from '../../shell/router.js'
import { useSession } from '../../shell/session.js'
import { useAct, useService } from '../acts.js'
import { CHANNELS, fieldsOf, lineOf, RecordPane, RecordsView } from '../records.js'
import { Preview } from './preview.js'
import { loadMessages, type Message, recipientOf, summaryOf } from './query.js'

/** The messages as a mail reader has them; `#/messages/<id>` shows one beside the list. */
export function MessagesView({ route }: { route: Route }) {
  const { env, version } = useSession()
  const ask = useService()
  const line = lineOf(route.params)
  const [more, setMore] = useState({ line, pages: 1 })
  const pages = more.line === line ? more.pages : 1
  const load = (isAsked: boolean) => loadMessages((path) => ask('GET', path, isAsked), line, pages)
  const resource = useResource(load, [env, line, pages, version])
  const {
    data,
    hasMore,
    totalCount = 0
  } = resource.value ?? { data: [] as Message[], hasMore: false }
  const total = totalCount > data.length ? ` of ${totalCount.toLocaleString()}` : hasMore ? '+' : ''
  return (
    <RecordsView
      route={route}
      placeholder="subscriber, transaction, channel:email tenant:acme"
      isByEnter
      count={resource.value && `${data.length.toLocaleString()}${total}`}
      resource={resource}
      label="Messages, newest first"
      items={data}
      onEnd={hasMore && !resource.isLoading ? () => setMore({ line, pages: pages + 1 }) : undefined}
      pathOf={({ _id = '' }) => [_id]}
      rowOf={(message, row) => <MessageRow message={message} {...row} />}
      hasNotes
      open={data.find(({ _id }) => _id === route.rest[0])}
      pane={(message, back) => <MessagePane key={message._id} message={message} back={back} />}
      reason={resource.value?.reason}
      add={{
        title: 'Add a message',
        children: <MessageFields />,
        // The server checks it.
        submit: async (fields) => (await env.messages.add(fields as NewMessage))._id
      }}
    />
  )
}

const FIELDS = {
  subscriberId: 'Subscriber',
  workflow: 'Workflow',
  transactionId: 'Transaction',
  subject: 'Subject'
}

/** The few fields of a message that people fill. */
function MessageFields() {
  return (
    <>
      {Object.entries(FIELDS).map(([name, words]) => (
        <label key={name}>
          {words}
          <input name={name} dir="auto" autofocus={name === 'subscriberId'} />
        </label>
      ))}
      <div class="line" role="radiogroup" aria-label="Channel">
        {CHANNELS.map((each, index) => (
          <label key={each} class="line">
            <input type="radio" name="channel" value={each} defaultChecked={index === 0} />
            {each}
          </label>
        ))}
      </div>
      <label>
        Content
        <textarea name="content" dir="auto" />
      </label>
    </>
  )
}

const TONES = { sent: undefined, warning: 'warn', error: 'bad' } as const

function MessageRow({ message, ...row }: { message: Message } & Pick<RowProps, 'href'>) {
  const { channel, createdAt, read, status, errorText } = message
  const { title, rest } = summaryOf(message)
  const more = status === 'sent' ? rest : `${status}: ${errorText ?? 'without a text'}`
  const note = [`${channel} · `, <bdi key="to">{recipientOf(message)}</bdi>, more && ` — ${more}`]
  const end = <time dateTime={createdAt}>{shortTime(createdAt).slice(5, 16)}</time>
  return (
    <Row {...row} {...{ note, end }} tone={TONES[status] ?? (read ? undefined : 'accent')}>
      <span class={read ? undefined : 'is-unread'} dir="auto">
        {title}
        {!read && <span class="visually-hidden"> (unread)</span>}
      </span>
    </Row>
  )
}

/** One message: as its subscriber sees it, and as JSON. */
function MessagePane({ message, back }: { message: Message; back: string }) {
  const { env } = useSession()
  const act = useAct()
  const {
    _id = '',
    read,
    createdAt,
    status,
    errorText,
    errorId = '',
    providerId,
    contextKeys = []
  } = message
  const fields = fieldsOf(message)
  const mark = () =>
    act(
      () => env.messages.change(_id, { read: !read, seen: true }),
      read ? 'It is unread' : 'It is read'
    )
  const sent = [
    recipientOf(message),
    message.email ?? message.phone,
    providerId && `through ${providerId}`
  ]
  return (
    <RecordPane
      noun="message"
      title={summaryOf(message).title}
      facts={[...sent, message.transactionId, ...contextKeys, timeText(createdAt)]}
      problem={
        status !== 'sent' && `${errorText ?? `Its status is ${status}, without a text`} ${errorId}`
      }
      back={back}
      actions={[{ name: read ? 'Mark as unread' : 'Mark as read', run: mark }]}
      json={message}
      fields={fields}
      save={(changes) => env.messages.change(_id, changes)}
      remove={() => env.messages.remove(_id)}
      putBack={() => env.messages.add(fields as NewMessage)}
      look={{ title: 'As received', content: () => <Preview message={message} /> }}
    />
  )
}
