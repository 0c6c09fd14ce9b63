import { useState } from 'preact/hooks'
import type { MessagePatch } from '../../../client/index.js'
import { ConfirmButton } from '../../parts/confirm.js'
import { CopyButton } from '../../parts/copy.js'
import { useCloseDetail } from '../../parts/detail.js'
import { Dialog } from '../../parts/dialog.js'
import { Json } from '../../parts/json.js'
import { useNotices } from '../../parts/notices.js'
import { SchemaForm } from '../../parts/schema-form.js'
import { shortTime } from '../../parts/times.js'
import { addressOf, go, type Route } from '../../shell/router.js'
import { useSession } from '../../shell/session.js'
import { MAIN_FIELDS, useSuggestions } from './form.js'
import { Preview } from './preview.js'
import { addressParams, type ListQuery, type Message } from './query.js'
import { titleOf } from './summary.js'

interface Props {
  message: Message
  query: ListQuery
  route: Route
  /** Tells the message as it is after a change. */
  changed: (message: Message) => void
}

/** One message: as its subscriber sees it, or as JSON, and what one can do with it. */
export function MessageDetail({ message, query, route, changed: tellChanged }: Props) {
  const { env, changed } = useSession()
  const { run } = useNotices()
  const [isEditing, setEditing] = useState(false)
  // What was asked for is shown until the answer says what it is.
  const [wanted, setWanted] = useState<MessagePatch>()
  const { _id = '' } = message
  const params = addressParams(query)
  const close = useCloseDetail(addressOf(['messages'], params))
  const asJson = route.params.get('as') === 'json'
  const change = async (changes: MessagePatch, done: string) => {
    setWanted(changes)
    const next = await run(() => env.messages.change(_id, changes), done)
    setWanted(undefined)
    if (!next) return
    tellChanged(next)
    changed()
  }
  const remove = async () => {
    await run(async () => {
      await env.messages.remove(_id)
      go(addressOf(['messages'], params))
      changed()
    }, 'Deleted the message')
  }
  return (
    <section class="card detail" aria-labelledby="message-name">
      <div class="row">
        <button type="button" aria-label="Close the message" title="Close (Esc)" onClick={close}>
          ×
        </button>
        <h2 id="message-name" dir="auto">
          {titleOf(message)}
        </h2>
      </div>
      <StateControls message={{ ...message, ...wanted } as Message} isBusy={wanted !== undefined} change={change} />
      <div class="row">
        <a class="button" aria-current={!asJson} href={addressOf(['messages', _id], params)}>
          As received
        </a>
        <a class="button" aria-current={asJson} href={addressOf(['messages', _id], { ...params, as: 'json' })}>
          JSON
        </a>
        <span class="row spread">
          <button type="button" onClick={() => setEditing(true)}>
            Edit
          </button>
          <ConfirmButton question="Delete this message?" button="Delete it" run={remove}>
            Delete
          </ConfirmButton>
        </span>
      </div>
      {asJson ? (
        <>
          <Json label="The message as JSON" value={message} />
          <div class="row">
            <CopyButton text={() => JSON.stringify(message, null, 2)}>Copy the JSON</CopyButton>
          </div>
        </>
      ) : (
        <Preview message={message} />
      )}
      <Facts message={message} />
      {isEditing && <EditMessage message={message} close={() => setEditing(false)} changed={tellChanged} />}
    </section>
  )
}

function StateControls({
  message: { status, read, seen, errorId, errorText },
  isBusy,
  change
}: {
  message: Message
  isBusy: boolean
  change: (changes: MessagePatch, done: string) => void
}) {
  const changeStatus = (status: Message['status']) => {
    // A message that was sent has no error.
    const withoutError =
      status === 'sent' ? { ...(errorId && { errorId: null }), ...(errorText && { errorText: null }) } : {}
    change({ status, ...withoutError }, `The status is ${status}`)
  }
  return (
    <div class="row">
      <label class="inline">
        status
        <select
          disabled={isBusy}
          value={status}
          onChange={(event) => changeStatus(event.currentTarget.value as Message['status'])}
        >
          <option>sent</option>
          <option>error</option>
          <option>warning</option>
        </select>
      </label>
      {(['read', 'seen'] as const).map((name) => (
        <label key={name} class="inline">
          <input
            type="checkbox"
            disabled={isBusy}
            checked={name === 'read' ? read : seen}
            onChange={({ currentTarget: { checked } }) =>
              change({ [name]: checked }, checked ? `It is ${name} now` : `It is not ${name} any more`)
            }
          />
          {name}
        </label>
      ))}
    </div>
  )
}

function Facts({ message }: { message: Message }) {
  const { subscriber, transactionId, contextKeys, templateIdentifier, providerId, createdAt, deliveredAt } = message
  const facts: [string, string | undefined][] = [
    ['_id', message._id],
    ['subscriberId', subscriber?.subscriberId],
    ['transactionId', transactionId],
    ['contextKeys', contextKeys?.join('  ')],
    ['workflow', templateIdentifier],
    ['providerId', providerId],
    ['createdAt', shortTime(createdAt)],
    ['deliveredAt', deliveredAt?.map(shortTime).join(', ')]
  ]
  return (
    <dl class="facts">
      {facts.flatMap(([name, value]) =>
        value === undefined || value === ''
          ? []
          : [
              <dt key={name}>{name}</dt>,
              <dd key={`${name}=`}>
                <bdi>{value}</bdi>
              </dd>
            ]
      )}
    </dl>
  )
}

function EditMessage({
  message,
  close,
  changed: tellChanged
}: {
  message: Message
  close: () => void
  changed: (message: Message) => void
}) {
  const { env, changed } = useSession()
  const { tell } = useNotices()
  const { _id = '', subscriber, templateIdentifier } = message
  return (
    <Dialog title="Edit the message" close={close} wide>
      <SchemaForm
        operation="changeMessage"
        // A change names the subscriber and the workflow by what a seed refers to them by.
        record={{ ...message, subscriberId: subscriber?.subscriberId, workflow: templateIdentifier }}
        main={MAIN_FIELDS}
        suggestions={useSuggestions([message])}
        button="Save"
        submit={async (changes) => {
          const next = await env.messages.change(_id, changes)
          close()
          tellChanged(next)
          changed()
          tell('Saved the message')
        }}
      />
    </Dialog>
  )
}
