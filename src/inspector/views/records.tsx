import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { Integration } from '../../client/index.js'
import { Callout } from '../parts/chip.js'
import { ErrorNote } from '../parts/errors.js'
import { type Fields, JsonDialog, type JsonDialogProps } from '../parts/json-form.js'
import { JsonTree } from '../parts/json-tree.js'
import { useKey } from '../parts/keys.js'
import { List, type ListProps } from '../parts/list.js'
import { Empty, NothingOpen, SearchLine } from '../parts/list-view.js'
import { Close, Pane, Panes } from '../parts/pane.js'
import type { Action } from '../parts/popover.js'
import type { Resource } from '../parts/resource.js'
import { ROW, ROW_WITH_NOTE, type RowProps } from '../parts/row.js'
import { Tabs } from '../parts/tabs.js'
import { useCommands } from '../shell/palette.js'
import { addressOf, go, type Route } from '../shell/router.js'
import { useSession } from '../shell/session.js'
import { Actions, useAct } from './acts.js'

/** The channels, in the order in which they are shown. */
export const CHANNELS: readonly Integration['channel'][] = [
  'email',
  'sms',
  'in_app',
  'chat',
  'push'
]

interface RecordsProps<Item, Open> extends Pick<ListProps<Item>, 'label' | 'items' | 'onEnd'> {
  route: Route
  placeholder: string
  /** Whether the server is asked for each search, at Enter. */
  isByEnter?: boolean
  resource: Resource<unknown>
  count?: string | undefined
  /** What follows the name of the view in the address of an item; undefined for a heading. */
  pathOf(item: Item): readonly string[] | undefined
  /** A heading, or the row of an item. */
  rowOf(item: Item, row: Pick<RowProps, 'href' | 'isCurrent' | 'tabIndex'>): ComponentChildren
  hasNotes?: boolean
  open: Open | undefined
  /** What is open, beside the list. */
  pane(open: Open, back: string): ComponentChildren
  /** Why nothing was found. */
  reason?: string | undefined
  /** What adds one, of the fields that people fill and JSON, and returns its address. */
  add?: Pick<JsonDialogProps, 'title' | 'value' | 'children'> & {
    submit(fields: object): Promise<string>
  }
}

/** Records of one kind: their search, their list, and the one that the address names beside it. */
export function RecordsView<Item, Open extends Item>(props: RecordsProps<Item, Open>) {
  const { route, placeholder, isByEnter = false, resource, count, reason, add: adding } = props
  const { label, items, onEnd, pathOf, rowOf, hasNotes, open, pane } = props
  const { value, isLoading, error, reload } = resource
  const { changed } = useSession()
  const [isAdding, setAdding] = useState(false)
  const { view, rest, params } = route
  const text = lineOf(params)
  const hrefOf = (item: Item) => addressOf([view, ...(pathOf(item) ?? [])], { q: text })
  const back = addressOf([view], { q: text })
  const add = adding && { name: 'Add', run: () => setAdding(true) }
  useCommands(add ? [{ ...add, name: adding.title }] : [])
  useKey('escape', () => {
    const row = document.querySelector<HTMLElement>('[data-item][aria-current="true"]')
    go(back)
    // Where it was hidden, it is shown by then.
    setTimeout(() => row?.focus())
  })
  const search = (
    <SearchLine
      label={`Search ${view}`}
      placeholder={placeholder}
      text={text}
      change={(q) =>
        go(addressOf(isByEnter ? [view] : [view, ...rest], { q }), { replace: !isByEnter })
      }
      isByEnter={isByEnter}
    >
      <span class="hint" role="status">
        {error === undefined && count}
      </span>
      {add && <Actions actions={[add]} />}
    </SearchLine>
  )
  const none = value !== undefined && (
    <Empty
      title={text === '' ? `The environment has no ${view}` : `None of the ${view} is like that`}
    >
      <p dir="auto">
        {text === '' ? 'A seed brings some: the menu of the environment loads one.' : reason}
      </p>
      {text !== '' && <a href={addressOf([view])}>All {view}</a>}
    </Empty>
  )
  const rows = (
    <List
      {...{ label, items, onEnd }}
      heightOf={(item) => (hasNotes && pathOf(item) ? ROW_WITH_NOTE : ROW)}
      keyOf={(item) => pathOf(item) && hrefOf(item)}
      current={open && hrefOf(open)}
      isAimed
      choose={(href) => go(String(href), { replace: true })}
    >
      {(item, place) => rowOf(item, { ...place, href: hrefOf(item) })}
    </List>
  )
  const hint =
    rest.length === 0
      ? 'Choose one to see it'
      : !isLoading && `${rest.join('/')} is not among these ${view}`
  const submit = async (fields: Fields) => {
    const id = await adding?.submit(fields)
    changed()
    go(addressOf([view, id ?? '']))
  }
  return (
    <div class="view">
      <h1 class="visually-hidden">{view.replace(/^./, (letter) => letter.toUpperCase())}</h1>
      <Panes isOpen={rest.length > 0}>
        <Pane label={`All ${view}`} head={search}>
          {error !== undefined ? (
            <ErrorNote error={error} retry={reload} />
          ) : items.length > 0 ? (
            rows
          ) : (
            none
          )}
        </Pane>
        {open ? pane(open, back) : <NothingOpen back={rest[0] && back}>{hint}</NothingOpen>}
      </Panes>
      {isAdding && adding && (
        <JsonDialog {...adding} submit={submit} close={() => setAdding(false)} />
      )}
    </div>
  )
}

/** What an address searches for: a line as one types it, or the filters of the message list. */
export const SEARCHED = ['q', 'channel', 'subscriberId', 'transactionId', 'contextKeys']

/** Returns what an address searches for, as one types it. */
export function lineOf(params: URLSearchParams): string {
  const words = [...params].filter(([name]) => SEARCHED.includes(name))
  const quoted = (word: string) => (/\s/.test(word) ? `"${word}"` : word)
  return words.map(([name, value]) => (name === 'q' ? value : quoted(`${name}:${value}`))).join(' ')
}

/** Returns what tells whether texts have all words of a search. */
export function isFound({ params }: Route): (...texts: string[]) => boolean {
  const words = lineOf(params).toLowerCase().split(/\s+/)
  return (...texts) => words.every((word) => texts.join(' ').toLowerCase().includes(word))
}

interface PaneProps {
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
  /** All of it; what of it can be edited, if left out. */
  json?: unknown
  /** What of it can be edited, and what changes it: it may reject with what is wrong. */
  fields: Fields
  save(changes: object): Promise<unknown>
  /** What deletes it, and what adds it again as it was. */
  remove?(): Promise<unknown>
  putBack?(): Promise<unknown>
  /** How else it is shown, by the title of that tab. */
  look?: { title: string; content(): ComponentChildren }
}

/** The record that is open: what it is, what one can do with it, and it as JSON. */
export function RecordPane(props: PaneProps) {
  const {
    noun,
    title,
    facts,
    problem,
    back,
    actions,
    fields,
    json = fields,
    save,
    remove,
    putBack,
    look
  } = props
  const { changed } = useSession()
  const act = useAct()
  const [isEditing, setEditing] = useState(false)
  const [tab, setTab] = useState<string>()
  const submit = (after: Fields) => save(changesOf(fields, after)).then(changed)
  const all: Action[] = [{ name: 'Edit', run: () => setEditing(true) }, ...actions]
  const here = location.hash
  const leave = () => remove?.().then(() => go(back))
  const comeBack = async () => putBack?.().then(() => go(here))
  if (remove)
    all.push({
      name: 'Delete',
      isDanger: true,
      run: () => act(async () => leave(), `Deleted the ${noun}`, comeBack)
    })
  const head = (
    <div class="head">
      <div class="head-title">
        <h2 dir="auto">{title}</h2>
        <Close back={back} />
      </div>
      <p class="muted line">{facts.map((text) => text && <bdi key={text}>{text}</bdi>)}</p>
      {problem && (
        <Callout tone="warn" icon="warn">
          {problem}
        </Callout>
      )}
      <Actions actions={all} />
    </div>
  )
  const asJson = {
    id: 'json',
    title: 'JSON',
    content: () => <JsonTree label={`The ${noun} as JSON`} value={json} />
  }
  const tabs = look ? [{ id: 'look', ...look }, asJson] : [asJson]
  const edit = {
    title: `Edit the ${noun}`,
    value: fields,
    button: 'Save',
    submit,
    close: () => setEditing(false)
  }
  return (
    <Pane label={`The ${noun}`} head={head}>
      <Tabs label={`Of this ${noun}`} tabs={tabs} current={tab} choose={setTab} />
      {isEditing && <JsonDialog {...edit} />}
    </Pane>
  )
}

/** Returns the fields that one object has other than another; null for those that it lacks. */
function changesOf(before: Fields, after: Fields): Fields {
  const names = Object.keys({ ...before, ...after })
  const changed = names.filter(
    (name) => JSON.stringify(before[name]) !== JSON.stringify(after[name])
  )
  return Object.fromEntries(changed.map((name) => [name, after[name] ?? null]))
}

/** Returns a record in the form of a seed, which says nothing of what it belongs to. */
export function fieldsOf(record: object): Fields {
  const isOwner = (name: string) => /^_(environment|organization)Id$/.test(name)
  return JSON.parse(JSON.stringify(record, (name, value) => (isOwner(name) ? undefined : value)))
}
