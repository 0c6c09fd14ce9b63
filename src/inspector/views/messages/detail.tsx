import { useState } from 'preact/hooks'
import type { MessagePatch, NewMessage } from '../../../client/index.js'
import { Callout } from '../../parts/chip.js'
import { useCloseDetail } from '../../parts/detail.js'
import { changesOf, JsonDialog } from '../../parts/json-form.js'
import { JsonTree } from '../../parts/json-tree.js'
import { Close, Pane } from '../../parts/pane.js'
import { Tabs } from '../../parts/tabs.js'
import { timeText } from '../../parts/times.js'
import { useToasts } from '../../parts/toast.js'
import { addressOf, go } from '../../shell/router.js'
import { useSession } from '../../shell/session.js'
import { Preview } from './preview.js'
import { type Message, recipientOf, summaryOf } from './query.js'

interface Props {
  message: Message
  back: string
  tab: string | undefined
  chooseTab(tab: string): void
  /** Tells the message as it is after a change, until the list is there again. */
  setChanged(message: Message): void
}

/** One message: as its subscriber sees it, its fields, and as JSON. */
export function MessagePane({ message, back, tab, chooseTab, setChanged }: Props) {
  const { env, changed } = useSession()
  const { run, tell } = useToasts()
  const [isEditing, setEditing] = useState(false)
  const { _id = '', status, errorText, errorId, read, createdAt } = message
  const { title } = summaryOf(message)
  useCloseDetail(back)
  const change = async (changes: MessagePatch) => {
    setChanged(await env.messages.change(_id, changes))
    changed()
  }
  const remove = async () => {
    const isRemoved = await run(async () => {
      await env.messages.remove(_id)
      return true
    })
    if (!isRemoved) return
    go(back)
    changed()
    tell('Deleted the message', {
      name: 'Undo',
      run: async () => {
        await run(() => env.messages.add(withoutOwner(message) as NewMessage))
        changed()
        go(addressOf(['messages', _id]))
      }
    })
  }
  const head = (
    <div class="head">
      <div class="head-title">
        <h2 dir="auto">{title}</h2>
        <span class="hint spread">{timeText(createdAt)}</span>
        <Close back={back} />
      </div>
      <Envelope message={message} />
      {status !== 'sent' && (
        <Callout tone={status === 'error' ? 'bad' : 'warn'} icon="warn">
          <span dir="auto">{errorText ?? `Its status is ${status}, without a text`}</span>
          {errorId && <code>{errorId}</code>}
        </Callout>
      )}
      <div class="line">
        <button type="button" onClick={() => setEditing(true)}>
          Edit
        </button>
        <button type="button" onClick={() => run(() => change({ read: !read, ...(!read && { seen: true }) }))}>
          {read ? 'Mark as unread' : 'Mark as read'}
        </button>
        <button type="button" class="danger" onClick={remove}>
          Delete
        </button>
      </div>
    </div>
  )
  const tabs = [
    { id: 'received', title: 'As received', content: () => <Preview message={message} /> },
    { id: 'json', title: 'JSON', content: () => <JsonTree label="The message as JSON" value={message} /> }
  ]
  return (
    <Pane label="The message" head={head}>
      <Tabs label="Of this message" tabs={tabs} current={tab} choose={chooseTab} />
      {isEditing && (
        <JsonDialog
          title="Edit the message"
          value={withoutOwner(message)}
          button="Save"
          submit={(fields) => change(changesOf(withoutOwner(message), fields))}
          close={() => setEditing(false)}
        />
      )}
    </Pane>
  )
}

/** Whom it was sent to, and by what; each a link to all of that kind. */
function Envelope({ message }: { message: Message }) {
  const { subscriber, providerId, transactionId, contextKeys = [] } = message
  return (
    <p class="muted parts">
      <a href={addressOf(['messages'], { subscriberId: subscriber?.subscriberId })} dir="auto">
        {recipientOf(message)}
      </a>
      <bdi>{message.email ?? message.phone}</bdi>
      {providerId && <span dir="auto">through {providerId}</span>}
      {transactionId && (
        <a class="mono" href={addressOf(['messages'], { transactionId })} dir="auto">
          {transactionId}
        </a>
      )}
      {contextKeys.map((key) => (
        <a key={key} class="mono" href={addressOf(['messages'], { contextKeys: key })} dir="auto">
          {key}
        </a>
      ))}
    </p>
  )
}

const OWNER = ['_environmentId', '_organizationId']
const RECORDS = ['subscriber', 'template', 'notificationGroup']

/** Returns a record in the form of a seed, which says nothing of what it belongs to. */
function withoutOwner(record: object): Record<string, unknown> {
  const own = Object.entries(record).filter(([name]) => !OWNER.includes(name))
  return Object.fromEntries(
    own.map(([name, value]) => [name, value && RECORDS.includes(name) ? withoutOwner(value) : value])
  )
}
