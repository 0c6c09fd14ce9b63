import './messages.css'
import { useState } from 'preact/hooks'
import type { NewMessage } from '../../../client/index.js'
import { CHANNELS } from '../../parts/channels.js'
import { Empty } from '../../parts/empty.js'
import { ErrorNote } from '../../parts/errors.js'
import { JsonDialog } from '../../parts/json-form.js'
import { ListView, NothingOpen } from '../../parts/list-view.js'
import { useResource } from '../../parts/resource.js'
import { ROW_WITH_NOTE, Row } from '../../parts/row.js'
import { shortTime } from '../../parts/times.js'
import { useToasts } from '../../parts/toast.js'
import { useCommands } from '../../shell/palette.js'
import { addressOf, go } from '../../shell/router.js'
import { lookOptions, useSession } from '../../shell/session.js'
import type { ViewProps } from '../view.js'
import { MessagePane } from './detail.js'
import {
  type ListQuery,
  lineOf,
  loadMessages,
  type Message,
  readLine,
  readQuery,
  recipientOf,
  summaryOf
} from './query.js'

/** The messages as a mail reader has them; `#/messages/<id>` shows one beside the list. */
export function MessagesView({ route }: ViewProps) {
  const { call, version } = useSession()
  const query = readQuery(route.params)
  const line = lineOf(query)
  const [more, setMore] = useState({ line, rounds: 1 })
  const rounds = more.line === line ? more.rounds : 1
  const { value, error, isLoading, reload } = useResource(
    (_, isAsked) => loadMessages(call, query, rounds, lookOptions(isAsked)),
    [call, line, rounds, version]
  )
  const [isAdding, setAdding] = useState(false)
  const [changed, setChanged] = useState<Message>()
  const [wanted] = route.rest
  const href = (id: string) => addressOf(['messages', id], query)
  const loaded = value?.messages ?? []
  const open = loaded.find(({ _id }) => _id === wanted) ?? (changed?._id === wanted ? changed : undefined)
  useCommands([{ name: 'Add a message', run: () => setAdding(true) }])
  const back = addressOf(['messages'], query)
  const refusal = value?.refusal && (value.reason ?? `The service answered with ${value.refusal.status}.`)
  const empty = value && <NoMessages reason={value.reason} isAll={line === ''} />
  const nothing = refusal === undefined ? empty : <ErrorNote error={refusal} retry={reload} />
  return (
    <>
      <ListView
        title="Messages"
        search={{
          placeholder: 'subscriber, transaction, tenant:acme',
          hint: 'An id of a subscriber or of transactions, or channel: subscriber: transaction: tenant:acme context:none',
          text: line,
          change: (text) => go(addressOf(['messages'], readLine(text))),
          isByEnter: true
        }}
        tools={
          <>
            <Channels query={query} />
            <span class="hint" role="status">
              {value && countText(loaded.length, value.total, value.hasMore)}
            </span>
            <button type="button" onClick={() => setAdding(true)}>
              Add
            </button>
          </>
        }
        resource={{ error, isLoading, reload }}
        label="Messages, newest first"
        items={loaded}
        keyOf={({ _id }) => _id ?? ''}
        heightOf={() => ROW_WITH_NOTE}
        current={wanted}
        choose={(id) => go(href(String(id)), { replace: true })}
        onEnd={() => value?.hasMore && !isLoading && setMore({ line, rounds: rounds + 1 })}
        nothing={error === undefined && nothing}
        isOpen={wanted !== undefined}
        open={
          open ? (
            <MessagePane
              key={open._id}
              message={open}
              back={back}
              tab={route.params.get('as') ?? undefined}
              chooseTab={(as) => go(addressOf(['messages', open._id ?? ''], { ...query, as }), { replace: true })}
              setChanged={setChanged}
            />
          ) : (
            <NothingOpen back={wanted === undefined ? undefined : back}>
              {wanted === undefined
                ? 'Choose a message to read it'
                : value && `${wanted} is not among these: look for its subscriber or its transaction.`}
            </NothingOpen>
          )
        }
      >
        {(message, place) => <MessageRow message={message} href={href(message._id ?? '')} {...place} />}
      </ListView>
      {isAdding && <AddMessage messages={loaded} close={() => setAdding(false)} />}
    </>
  )
}

function countText(count: number, total: number | undefined, hasMore: boolean): string {
  if (total !== undefined && total > count) return `${count.toLocaleString()} of ${total.toLocaleString()}`
  return `${count.toLocaleString()}${hasMore ? '+' : ''}`
}

function Channels({ query }: { query: ListQuery }) {
  return (
    <select
      aria-label="Channel"
      value={query.channel?.[0] ?? ''}
      onChange={({ currentTarget: { value } }) => go(addressOf(['messages'], { ...query, channel: value }))}
    >
      <option value="">All channels</option>
      {CHANNELS.map((each) => (
        <option key={each}>{each}</option>
      ))}
    </select>
  )
}

interface RowProps {
  message: Message
  href: string
  isCurrent: boolean
  tabIndex: number
}

function MessageRow({ message, ...place }: RowProps) {
  const { channel, createdAt, read, status, errorText } = message
  const { title, rest } = summaryOf(message)
  const isFailed = status !== 'sent'
  const tone = status === 'error' ? 'bad' : status === 'warning' ? 'warn' : read ? undefined : 'accent'
  return (
    <Row
      {...place}
      tone={tone}
      end={<time dateTime={createdAt}>{shortTime(createdAt).slice(5, 16)}</time>}
      note={
        <>
          {channel} · <bdi>{recipientOf(message)}</bdi>
          {isFailed ? ` — ${status}: ${errorText ?? 'without a text'}` : rest && ` — ${rest}`}
        </>
      }
    >
      <span class={read ? undefined : 'is-unread'} dir="auto">
        {title}
        {!read && <span class="visually-hidden"> (unread)</span>}
      </span>
    </Row>
  )
}

function NoMessages({ reason, isAll }: { reason: string | undefined; isAll: boolean }) {
  return (
    <Empty title={isAll ? 'No messages' : 'No message is like that'}>
      {isAll ? <p>Add one, or load a seed that has some.</p> : reason && <p dir="auto">{reason}</p>}
      {!isAll && <a href={addressOf(['messages'])}>All messages</a>}
    </Empty>
  )
}

function AddMessage({ messages, close }: { messages: readonly Message[]; close: () => void }) {
  const { env, changed } = useSession()
  const { run, tell } = useToasts()
  const { value: workflows = [] } = useResource(() => env.workflows.list(), [env])
  const [fields, setFields] = useState<Record<string, string>>({ channel: 'email' })
  const field = (name: string, label: string, suggestions: readonly string[] = []) => (
    <label>
      {label}
      <input
        value={fields[name] ?? ''}
        list={`known-${name}`}
        dir="auto"
        autofocus={name === 'subscriberId'}
        onInput={({ currentTarget: { value } }) => setFields({ ...fields, [name]: value })}
      />
      <datalist id={`known-${name}`}>
        {[...new Set(suggestions)].map((each) => (
          <option key={each} value={each} />
        ))}
      </datalist>
    </label>
  )
  const add = async (others: object) => {
    const filled: object = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ''))
    // The server checks it.
    const { _id } = await env.messages.add({ ...filled, ...others } as NewMessage)
    changed()
    go(addressOf(['messages', _id]))
    const undo = async () => {
      await run(() => env.messages.remove(_id))
      changed()
    }
    tell('Added the message', { name: 'Undo', run: undo })
  }
  return (
    <JsonDialog title="Add a message" button="Add the message" submit={add} close={close}>
      <div class="fields">
        {field(
          'subscriberId',
          'Subscriber',
          messages.flatMap(({ subscriber }) => subscriber?.subscriberId ?? [])
        )}
        {field(
          'workflow',
          'Workflow',
          workflows.map(({ identifier }) => identifier)
        )}
        {field('transactionId', 'Transaction')}
        {field('subject', 'Subject')}
      </div>
      <fieldset class="line choices" aria-label="Channel">
        {CHANNELS.map((each) => (
          <label key={each}>
            <input
              type="radio"
              name="channel"
              checked={fields.channel === each}
              onChange={() => setFields({ ...fields, channel: each })}
            />
            {each}
          </label>
        ))}
      </fieldset>
      <label>
        Content
        <textarea
          rows={3}
          value={fields.content ?? ''}
          dir="auto"
          onInput={({ currentTarget: { value } }) => setFields({ ...fields, content: value })}
        />
      </label>
    </JsonDialog>
  )
}
