import { useState } from 'preact/hooks'
import type { MessagePatch, NewMessage } from '../../../client/index.js'
import { Callout } from '../../parts/chip.js'
import { copyText } from '../../parts/copy.js'
import { useCloseDetail } from '../../parts/detail.js'
import { Facts } from '../../parts/facts.js'
import { Icon } from '../../parts/icon.js'
import { changesOf, JsonDialog } from '../../parts/json-form.js'
import { JsonTree } from '../../parts/json-tree.js'
import { Close, Pane } from '../../parts/pane.js'
import { ActionMenu } from '../../parts/popover.js'
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
  const { _id = '', status, errorText, errorId, read, providerId, transactionId, contextKeys = [], createdAt } = message
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
  const address = message.email ?? message.phone
  const head = (
    <div class="head">
      <div class="head-title">
        <h2 dir="auto">{title}</h2>
        <span class="hint spread">{timeText(createdAt)}</span>
        <Close back={back} />
      </div>
      <p class="muted parts">
        <span>
          to <b dir="auto">{recipientOf(message)}</b> {address && <bdi>{address}</bdi>}
        </span>
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
        <ActionMenu
          class="only-icon"
          button={<Icon name="more" />}
          label="More of this message"
          groups={[
            {
              actions: [
                { name: 'Copy its id', icon: 'copy', run: () => run(() => copyText(_id), 'Copied') },
                { name: 'Messages to the same subscriber', run: () => go(subscriberAddress(message)) },
                { name: 'Delete', isDanger: true, run: remove }
              ]
            }
          ]}
        />
      </div>
    </div>
  )
  const { template: _template, payload: _payload, content: _content, ...others } = message
  const tabs = [
    { id: 'received', title: 'As received', content: () => <Preview message={message} /> },
    { id: 'fields', title: 'Fields', content: () => <Facts values={others} /> },
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

function subscriberAddress({ subscriber }: Message): string {
  return addressOf(['messages'], { subscriberId: subscriber?.subscriberId ?? '' })
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
