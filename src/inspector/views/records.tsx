import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { useCloseDetail } from '../parts/detail.js'
import { Empty } from '../parts/empty.js'
import { type Fields, JsonDialog } from '../parts/json-form.js'
import type { ListProps } from '../parts/list.js'
import { ListView, NothingOpen } from '../parts/list-view.js'
import type { Resource } from '../parts/resource.js'
import { ROW, ROW_WITH_NOTE, Row, type RowProps } from '../parts/row.js'
import { useCommands } from '../shell/palette.js'
import { addressOf, go, type Route } from '../shell/router.js'
import { useSession } from '../shell/session.js'
import { Actions } from './acts.js'

interface Props<Item> extends Pick<ListProps<Item>, 'label' | 'items' | 'onEnd'> {
  route: Route
  title: string
  search: { placeholder: string; hint?: string; isByEnter?: boolean }
  resource: Resource<unknown>
  count?: string | undefined
  /** What follows the name of the view in the address of an item; undefined for a heading. */
  pathOf(item: Item): readonly string[] | undefined
  /** The words of a heading, or the row of an item, with what stands over its end. */
  rowOf(item: Item): Omit<RowProps, 'href'> & { over?: ComponentChildren }
  open: Item | undefined
  /** What is open, beside the list. */
  pane(item: Item, back: string): ComponentChildren
  /** Why nothing was found, or how to get some. */
  reason: string | undefined
  /** What adds one, of JSON that is `value` at first and of the fields that people fill, and returns its address. */
  add?: { title: string; value?: object; fields?: ComponentChildren; submit(fields: object): Promise<string> }
}

/** Records of one kind: their search, their list, and the one that the address names beside it. */
export function RecordsView<Item>(props: Props<Item>) {
  const { route, search, count, pathOf, rowOf, open, pane, reason, add, ...list } = props
  const { value, isLoading, error } = list.resource
  const { changed } = useSession()
  const [isAdding, setAdding] = useState(false)
  const { view, rest, params } = route
  const text = lineOf(params)
  const hrefOf = (item: Item) => addressOf([view, ...(pathOf(item) ?? [])], { q: text })
  const back = addressOf([view], { q: text })
  const name = list.title.toLowerCase()
  useCloseDetail(back)
  useCommands(add ? [{ name: add.title, run: () => setAdding(true) }] : [])
  const startAdding = () => setAdding(true)
  const tools = (
    <>
      <span class="hint" role="status">
        {count}
      </span>
      {add && <Actions actions={[{ name: 'Add', run: startAdding }]} />}
    </>
  )
  const nothing = value !== undefined && error === undefined && (
    <Empty title={text === '' ? `The environment has no ${name}` : `None of the ${name} is like that`}>
      <p dir="auto">{reason}</p>
      {text !== '' && <a href={addressOf([view])}>All {name}</a>}
    </Empty>
  )
  const submit = async (fields: Fields) => {
    if (!add) return
    const form = document.querySelector<HTMLFormElement>('dialog[open] form')
    const typed = [...new FormData(form ?? undefined)].filter(([, text]) => text !== '')
    const id = await add.submit({ ...Object.fromEntries(typed), ...fields })
    changed()
    go(addressOf([view, id]))
  }
  return (
    <>
      <ListView
        {...list}
        search={{ ...search, text, change: (q) => go(addressOf(search.isByEnter ? [view] : [view, ...rest], { q })) }}
        tools={tools}
        heightOf={(item) => (rowOf(item).note ? ROW_WITH_NOTE : ROW)}
        keyOf={(item) => pathOf(item) && hrefOf(item)}
        current={open && hrefOf(open)}
        choose={(href) => go(String(href), { replace: true })}
        nothing={nothing}
        isOpen={rest.length > 0}
        open={
          open ? (
            pane(open, back)
          ) : (
            <NothingOpen back={rest[0] && back}>
              {rest.length === 0
                ? 'Choose one to see it'
                : !isLoading && `${rest.join('/')} is not among these ${name}`}
            </NothingOpen>
          )
        }
      >
        {(item, place) => {
          const { over, ...row } = rowOf(item)
          if (!pathOf(item)) return <h2 class="group">{row.children}</h2>
          return (
            <div class={over ? 'with-switch' : ''}>
              <Row {...row} {...place} href={hrefOf(item)} />
              {over}
            </div>
          )
        }}
      </ListView>
      {isAdding && add && (
        <JsonDialog {...add} button={add.title} submit={submit} close={() => setAdding(false)}>
          {add.fields}
        </JsonDialog>
      )}
    </>
  )
}

/** What an address searches for: a line as one types it, or the filters of the message list. */
const SEARCHED = ['q', 'channel', 'subscriberId', 'transactionId', 'contextKeys']

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
