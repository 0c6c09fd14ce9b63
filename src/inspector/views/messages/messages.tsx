import { useState } from 'preact/hooks'
import { AnswerCard, RequestLine, reasonOf } from '../../parts/answer.js'
import { CHANNELS } from '../../parts/channels.js'
import { Dialog } from '../../parts/dialog.js'
import { Empty } from '../../parts/empty.js'
import { ErrorNote } from '../../parts/errors.js'
import { useNotices } from '../../parts/notices.js'
import { useResource } from '../../parts/resource.js'
import { SchemaForm } from '../../parts/schema-form.js'
import { useCommands } from '../../shell/palette.js'
import { addressOf, go } from '../../shell/router.js'
import { lookOptions, useSession } from '../../shell/session.js'
import type { ViewProps } from '../view.js'
import { MessageDetail } from './detail.js'
import { Filters } from './filters.js'
import { MAIN_FIELDS, useSuggestions } from './form.js'
import { MessageList } from './list.js'
import './messages.css'
import { Pager } from './pager.js'
import { addressParams, isFiltered, type ListQuery, type Message, pageOf, readQuery, requestPath } from './query.js'

/** The list of messages as the service gives it; `#/messages/<id>` shows one of them beside it. */
export function MessagesView({ route }: ViewProps) {
  const { call, version } = useSession()
  const query = readQuery(route.params)
  const path = requestPath(query)
  const {
    value: answer,
    error,
    isAsked,
    isBusy,
    reload
  } = useResource((_, isAsked) => call('GET', path, lookOptions(isAsked)), [call, path, version])
  const [isAdding, setAdding] = useState(false)
  const [latest, setLatest] = useState<{ message: Message; before: unknown }>()
  const [id] = route.rest
  const show = (changes: Partial<ListQuery>) =>
    go(addressOf(['messages'], addressParams({ ...query, page: 0, ...changes })))
  const page = answer?.status === 200 ? pageOf(answer.json) : undefined
  // A message that was just changed is newer than the list, until that is there again.
  const changed = latest?.message._id === id ? latest : undefined
  const listed = changed?.before === answer ? undefined : page?.data.find(({ _id }) => _id === id)
  const found = listed ?? changed?.message ?? page?.data.find(({ _id }) => _id === id)
  const tellChanged = (message: Message) => setLatest({ message, before: answer })
  useMessageCommands(show, () => setAdding(true), reload)
  return (
    <>
      <div class="view-head" data-held={isBusy || (isAsked && answer?.status !== 200)}>
        <h1>Messages</h1>
        <button type="button" disabled={isBusy} onClick={reload}>
          Load again
        </button>
        {isFiltered(query) && (
          <a class="button" href={addressOf(['messages'], { limit: query.limit })}>
            Clear the filters
          </a>
        )}
        <button type="button" class="primary spread" onClick={() => setAdding(true)}>
          Add a message
        </button>
      </div>
      <Filters query={query} show={show} />
      {error !== undefined && <ErrorNote error={error} retry={reload} />}
      {answer && page && <RequestLine answer={answer} />}
      {answer && !page && (
        <>
          <p class="error-note" role="alert" dir="auto">
            {reasonOf(answer) ?? `The service answered with ${answer.status}.`}
          </p>
          <AnswerCard answer={answer} />
        </>
      )}
      {page && (
        <div class={id === undefined ? 'messages' : 'messages split has-detail'}>
          <div class="listed">
            <Pager page={page} isLoading={isBusy || answer?.path !== path} show={(page) => show({ page })} />
            <MessageList messages={page.data} chosen={id} params={addressParams(query)} />
            {page.data.length === 0 && <NoMessages reason={answer && reasonOf(answer)} query={query} show={show} />}
          </div>
          {found && <MessageDetail key={found._id} message={found} query={query} route={route} changed={tellChanged} />}
          {id !== undefined && !found && (
            <Empty title="This message is not on this page of the list">
              <p>
                The service has no operation for one message. Look for <code>{id}</code> with other filters, or on
                another page.
              </p>
              <a href={addressOf(['messages'], addressParams(query))}>Close</a>
            </Empty>
          )}
        </div>
      )}
      {isAdding && <AddMessage messages={page?.data ?? []} close={() => setAdding(false)} added={tellChanged} />}
    </>
  )
}

function useMessageCommands(show: (changes: Partial<ListQuery>) => void, add: () => void, reload: () => void) {
  useCommands([
    { name: 'Add a message', run: add },
    { name: 'Load the messages again', run: reload },
    {
      name: 'Show all messages',
      run: () =>
        show({ channel: undefined, subscriberId: undefined, transactionId: [], contextKeys: [], hasNoContext: false })
    },
    ...CHANNELS.map((channel) => ({ name: `Show messages of the channel ${channel}`, run: () => show({ channel }) }))
  ])
}

function NoMessages({
  reason,
  query,
  show
}: {
  reason: string | undefined
  query: ListQuery
  show: (changes: Partial<ListQuery>) => void
}) {
  const { page } = query
  return (
    <Empty
      title={
        page > 0 ? `Nothing on page ${page}` : isFiltered(query) ? 'No message passes these filters' : 'No messages'
      }
    >
      {reason && <p dir="auto">{reason}</p>}
      {page > 0 ? (
        <button type="button" onClick={() => show({ page: 0 })}>
          Go to the first page
        </button>
      ) : isFiltered(query) ? (
        <a href={addressOf(['messages'])}>Show all messages</a>
      ) : (
        <p>Add one here, or load a seed that has some.</p>
      )}
    </Empty>
  )
}

function AddMessage({
  messages,
  close,
  added
}: {
  messages: readonly Message[]
  close: () => void
  added: (message: Message) => void
}) {
  const { env, changed } = useSession()
  const { tell } = useNotices()
  return (
    <Dialog title="Add a message" close={close} wide>
      <SchemaForm
        operation="addMessage"
        main={MAIN_FIELDS}
        suggestions={useSuggestions(messages)}
        button="Add"
        submit={async (fields) => {
          // The server checks it by the schema that the form is made from.
          const message = await env.messages.add(fields as never)
          close()
          added(message)
          changed()
          tell('Added the message')
          go(addressOf(['messages', message._id]))
        }}
      />
    </Dialog>
  )
}
