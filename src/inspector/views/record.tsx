import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { Callout } from '../parts/chip.js'
import { changesOf, type Fields, JsonDialog } from '../parts/json-form.js'
import { JsonTree } from '../parts/json-tree.js'
import { Close, Pane } from '../parts/pane.js'
import type { Action } from '../parts/popover.js'
import { Tabs } from '../parts/tabs.js'
import { useSession } from '../shell/session.js'
import { Actions } from './acts.js'

interface Props {
  /** What it is, such as `message`. */
  noun: string
  title: string
  /** What there is to know of it at once. */
  facts: readonly (string | null | undefined)[]
  /** What went wrong with it. */
  problem?: string | false
  back: string
  /** What can be done, but for editing it. */
  actions: readonly Action[]
  json: unknown
  /** What of it can be edited, and what changes it: it may reject with what is wrong. */
  fields: Fields
  save(changes: object): Promise<unknown>
  /** How else it is shown, by the title of that tab. */
  look?: { title: string; content(): ComponentChildren }
}

/** The record that is open: what it is, what one can do with it, and it as JSON. */
export function RecordPane({ noun, title, facts, problem, back, actions, json, fields, save, look }: Props) {
  const { changed } = useSession()
  const [isEditing, setEditing] = useState(false)
  const [tab, setTab] = useState<string>()
  const head = (
    <div class="head">
      <div class="head-title">
        <h2 dir="auto">{title}</h2>
        <Close back={back} />
      </div>
      <p class="muted line">{facts.map((text) => text && <bdi key={text}>{text}</bdi>)}</p>
      {problem && (
        <Callout tone="warn" icon="warn">
          <span dir="auto">{problem}</span>
        </Callout>
      )}
      <Actions actions={[{ name: 'Edit', run: () => setEditing(true) }, ...actions]} />
    </div>
  )
  const submit = (after: Fields) => save(changesOf(fields, after)).then(changed)
  const asJson = { id: 'json', title: 'JSON', content: () => <JsonTree label={`The ${noun} as JSON`} value={json} /> }
  const tabs = look ? [{ id: 'look', ...look }, asJson] : [asJson]
  const edit = { title: `Edit the ${noun}`, value: fields, button: 'Save', submit, close: () => setEditing(false) }
  return (
    <Pane label={`The ${noun}`} head={head}>
      <Tabs label={`Of this ${noun}`} tabs={tabs} current={tab} choose={setTab} />
      {isEditing && <JsonDialog {...edit} />}
    </Pane>
  )
}

const OWNER = ['_environmentId', '_organizationId']

/** Returns a record in the form of a seed, which says nothing of what it belongs to. */
export function fieldsOf(record: object): Fields {
  return JSON.parse(JSON.stringify(record, (name, value) => (OWNER.includes(name) ? undefined : value)))
}
