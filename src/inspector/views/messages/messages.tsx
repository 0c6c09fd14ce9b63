import './messages.css'
import { useState } from 'preact/hooks'
import type { AttachedEnvironment, NewMessage } from '../../../client/index.js'
import { CHANNELS } from '../../../domain/enums.js'
import type { FormField } from '../../parts/form-field.js'
import { formatShortTime, formatTime } from '../../parts/format-time.js'
import { ListRow } from '../../parts/list-row.js'
import { useResource } from '../../parts/resource.js'
import { hrefTo, type Route } from '../../shell/router.js'
import { useSession } from '../../shell/session.js'
import { useAction } from '../actions.js'
import { editableFields, RecordPane } from '../records/record-pane.js'
import { RecordsView, type RowLink } from '../records/records-view.js'
import { searchTextOf } from '../records/search.js'
import { recentSubscribers, workflowIds } from '../suggestions.js'
import { recipientOf, summaryOf } from './message-text.js'
import { MessagePreview } from './preview.js'
import { channelOf, type Message, searchMessages, withChannel } from './search-messages.js'

/** Lists the messages, newest first. `#/messages/<id>` opens a message. */
export function MessagesView({ route }: { route: Route }) {
  const { env, version } = useSession()
  const searchText = searchTextOf(route.params)
  const { pages, loadNextPage } = usePageCount(searchText)
  const resource = useResource(
    () => searchMessages(env, searchText, pages),
    [env, searchText, pages, version]
  )
  const messages = resource.value?.messages ?? []
  const hasMore = resource.value?.hasMore ?? false
  const { open, isOpening } = useOpenMessage(route.rest[0], messages, resource.isLoading)
  return (
    <RecordsView
      route={route}
      placeholder="id, transaction, subscriber, context or text"
      isByEnter
      filters={<ChannelFilter searchText={searchText} />}
      count={resource.value && formatCount(messages.length, resource.value)}
      resource={resource}
      label="Messages, newest first"
      items={messages}
      onEnd={hasMore && !resource.isLoading ? loadNextPage : undefined}
      pathOf={({ _id = '' }) => [_id]}
      rowOf={(message, link) => <MessageRow message={message} link={link} />}
      hasNotes
      open={open}
      isOpening={isOpening}
      pane={(message, back) => <MessagePane key={message._id} message={message} back={back} />}
      reason={resource.value?.reason}
      add={{
        title: 'Add a message',
        value: {},
        fields: messageFields(env),
        // The fields may be invalid, but the server validates them.
        submit: async (fields) => (await env.messages.add(fields as NewMessage))._id
      }}
    />
  )
}

/** Returns the message with this id. Loads the message if it isn't in the list. */
function useOpenMessage(
  id: string | undefined,
  messages: readonly Message[],
  isListLoading: boolean
) {
  const { env, version } = useSession()
  const listed = messages.find(({ _id }) => _id === id)
  const isUnlisted = id !== undefined && listed === undefined && !isListLoading
  const { value, error } = useResource(
    async () => (isUnlisted ? env.messages.get(id) : undefined),
    [env, id, version, isUnlisted]
  )
  const loaded = value?._id === id ? value : undefined
  return { open: listed ?? loaded, isOpening: isUnlisted && error === undefined }
}

/** Links that limit the current search to one channel, or extend it to all channels. */
function ChannelFilter({ searchText }: { searchText: string }) {
  const current = channelOf(searchText)
  return (
    <nav class="filters line" aria-label="Channel">
      {[undefined, ...CHANNELS].map((channel) => (
        <a
          key={channel}
          class="chip"
          href={hrefTo(['messages'], { q: withChannel(searchText, channel) })}
          aria-current={channel === current ? 'true' : undefined}
        >
          {channel ?? 'all channels'}
        </a>
      ))}
    </nav>
  )
}

/** Keeps the number of pages to load. A new search starts with one page. */
function usePageCount(searchText: string) {
  const [state, setState] = useState({ searchText, pages: 1 })
  const pages = state.searchText === searchText ? state.pages : 1
  return { pages, loadNextPage: () => setState({ searchText, pages: pages + 1 }) }
}

/** Returns text such as `1,000 of 1,260`, or `1,000+` if the total is unknown. */
function formatCount(
  loaded: number,
  { totalCount = 0, hasMore }: { totalCount?: number; hasMore: boolean }
): string {
  const count = loaded.toLocaleString()
  if (totalCount > loaded) return `${count} of ${totalCount.toLocaleString()}`
  return hasMore ? `${count}+` : count
}

/** Returns the form fields for a message's most common properties. */
const messageFields = (env: AttachedEnvironment): FormField[] => [
  { name: 'subscriberId', label: 'Subscriber', suggest: () => recentSubscribers(env) },
  { name: 'workflow', label: 'Workflow', suggest: () => workflowIds(env) },
  { name: 'transactionId', label: 'Transaction' },
  { name: 'subject', label: 'Subject' },
  { name: 'channel', label: 'Channel', kind: 'radio', options: CHANNELS, value: 'email' },
  { name: 'content', label: 'Content', kind: 'lines' }
]

const STATUS_TONES = { sent: undefined, warning: 'warn', error: 'bad' } as const

function MessageRow({ message, link }: { message: Message; link: RowLink }) {
  const { channel, createdAt, read, status, errorText } = message
  const { title, rest } = summaryOf(message)
  const more = status === 'sent' ? rest : `${status}: ${errorText ?? 'no error text'}`
  const note = [
    `${channel} · `,
    <bdi key="recipient">{recipientOf(message)}</bdi>,
    more && ' — ',
    <bdi key="more">{more}</bdi>
  ]
  return (
    <ListRow
      {...link}
      note={note}
      end={<time dateTime={createdAt}>{formatShortTime(createdAt).slice(5, 16)}</time>}
      tone={STATUS_TONES[status] ?? (read ? undefined : 'accent')}
    >
      <span class={read ? undefined : 'is-unread'}>
        {title}
        {!read && <span class="visually-hidden"> (unread)</span>}
      </span>
    </ListRow>
  )
}

/** Shows a message as the subscriber sees it, and as JSON. */
function MessagePane({ message, back }: { message: Message; back: string }) {
  const { env } = useSession()
  const runAction = useAction()
  const { _id = '', read, createdAt, providerId, transactionId, contextKeys = [] } = message
  const fields = editableFields(message)
  const toggleRead = () =>
    runAction(
      () => env.messages.change(_id, { read: !read, seen: true }),
      read ? 'Marked as unread' : 'Marked as read'
    )
  const facts = [
    recipientOf(message),
    message.email ?? message.phone,
    providerId && `via ${providerId}`,
    transactionId,
    ...contextKeys,
    formatTime(createdAt)
  ]
  return (
    <RecordPane
      noun="message"
      title={summaryOf(message).title}
      facts={facts}
      problem={problemOf(message)}
      back={back}
      actions={[{ name: read ? 'Mark as unread' : 'Mark as read', run: toggleRead }]}
      json={message}
      fields={fields}
      save={(changes) => env.messages.change(_id, changes)}
      deletion={{
        remove: () => env.messages.remove(_id),
        addAgain: () => env.messages.add(fields as NewMessage)
      }}
      firstTab={{ title: 'As received', content: () => <MessagePreview message={message} /> }}
    />
  )
}

function problemOf({ status, errorText, errorId }: Message): string | false {
  if (status === 'sent') return false
  const text = errorText ?? `The status is ${status}, but there is no error text`
  return errorId ? `${text} (${errorId})` : text
}
