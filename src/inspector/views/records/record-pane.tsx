import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { Callout } from '../../parts/chip.js'
import { type Fields, JsonDialog } from '../../parts/json-dialog.js'
import { JsonTree } from '../../parts/json-tree.js'
import { Close, Pane } from '../../parts/pane.js'
import type { Action } from '../../parts/popover.js'
import { Tabs } from '../../parts/tabs.js'
import { navigate } from '../../shell/router.js'
import { useSession } from '../../shell/session.js'
import { ActionButtons, useAction } from '../actions.js'

interface RecordPaneProps {
  /** The kind of record, such as `message`. */
  noun: string
  title: string
  /** Short facts shown below the title. */
  facts: readonly (string | null | undefined)[]
  /** The record's problems, shown as a warning. */
  problem?: string | false
  back: string
  /** Actions in addition to Edit and Delete. */
  actions: readonly Action[]
  /** The value that the JSON tab shows; `fields` by default. */
  json?: unknown
  /** The fields that can be edited. */
  fields: Fields
  save(changes: object): Promise<unknown>
  /**
   * Deletes the record, or adds it again when the user chooses Undo. Undefined if the record can't
   * be deleted.
   */
  deletion?: { remove(): Promise<unknown>; addAgain(): Promise<unknown> }
  /** A tab before the JSON tab. */
  firstTab?: { title: string; content(): ComponentChildren }
}

/** The pane of the open record, with its facts, its actions, and the record as JSON. */
export function RecordPane(props: RecordPaneProps) {
  const { noun, title, facts, problem, back, fields, json = fields, save, firstTab } = props
  const { reloadAll } = useSession()
  const [isEditing, setEditing] = useState(false)
  const [tab, setTab] = useState<string>()
  const actions = useRecordActions(props, () => setEditing(true))
  const submit = async (edited: Fields) => {
    await save(changedFields(fields, edited))
    reloadAll()
  }
  const head = (
    <div class="head">
      <div class="head-title">
        <h2 dir="auto">{title}</h2>
        <Close back={back} />
      </div>
      <p class="muted line">{facts.map((fact) => fact && <bdi key={fact}>{fact}</bdi>)}</p>
      {problem && (
        <Callout tone="warn" icon="warn">
          {problem}
        </Callout>
      )}
      <ActionButtons actions={actions} />
    </div>
  )
  const jsonTab = {
    id: 'json',
    title: 'JSON',
    content: () => <JsonTree label={`The ${noun} as JSON`} value={json} />
  }
  const tabs = firstTab ? [{ id: 'first', ...firstTab }, jsonTab] : [jsonTab]
  return (
    <Pane label={`The ${noun}`} head={head}>
      <Tabs label={`Views of the ${noun}`} tabs={tabs} current={tab} select={setTab} />
      {isEditing && (
        <JsonDialog
          title={`Edit the ${noun}`}
          value={fields}
          button="Save"
          submit={submit}
          close={() => setEditing(false)}
        />
      )}
    </Pane>
  )
}

function useRecordActions(
  { noun, back, actions, deletion }: RecordPaneProps,
  edit: () => void
): Action[] {
  const runAction = useAction()
  const editAction = { name: 'Edit', run: edit }
  if (!deletion) return [editAction, ...actions]
  const href = location.hash
  const remove = async () => {
    await deletion.remove()
    navigate(back)
  }
  const undo = async () => {
    await deletion.addAgain()
    navigate(href)
  }
  const deleteAction = {
    name: 'Delete',
    isDanger: true,
    run: () => runAction(remove, `Deleted the ${noun}`, undo)
  }
  return [editAction, ...actions, deleteAction]
}

/** Returns the fields whose values changed. Removed fields have the value null. */
function changedFields(before: Fields, after: Fields): Fields {
  const names = Object.keys({ ...before, ...after })
  const changed = names.filter(
    (name) => JSON.stringify(before[name]) !== JSON.stringify(after[name])
  )
  return Object.fromEntries(changed.map((name) => [name, after[name] ?? null]))
}

/** Returns a record without the ids of its environment and organization, which a seed omits too. */
export function editableFields(record: object): Fields {
  const isOwnerId = (name: string) => /^_(environment|organization)Id$/.test(name)
  const withoutOwners = JSON.stringify(record, (name, value) =>
    isOwnerId(name) ? undefined : value
  )
  return JSON.parse(withoutOwners)
}
