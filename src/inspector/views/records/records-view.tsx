import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { EmptyList, EmptyPane } from '../../parts/empty.js'
import { ErrorNote } from '../../parts/error-note.js'
import { type Fields, JsonDialog, type JsonDialogProps } from '../../parts/json-dialog.js'
import { useShortcut } from '../../parts/keyboard.js'
import { type ListRowProps, ROW_HEIGHT, ROW_WITH_NOTE_HEIGHT } from '../../parts/list-row.js'
import { Pane, Panes } from '../../parts/pane.js'
import type { Resource } from '../../parts/resource.js'
import { SearchLine } from '../../parts/search-line.js'
import { VirtualList, type VirtualListProps } from '../../parts/virtual-list.js'
import { useCommands } from '../../shell/commands.js'
import { useConnectionProblem } from '../../shell/live-provider.js'
import { hrefTo, navigate, type Route } from '../../shell/router.js'
import { useSession } from '../../shell/session.js'
import { ActionButtons } from '../actions.js'
import { searchTextOf } from './search.js'

export type RowLink = Pick<ListRowProps, 'href' | 'isCurrent' | 'tabIndex'>

interface ListProps<Item> extends Pick<VirtualListProps<Item>, 'label' | 'items' | 'onEnd'> {
  route: Route
  /** Returns the URL segments that identify an item within the view; undefined for a heading. */
  pathOf(item: Item): readonly string[] | undefined
  /** Renders a heading, or the row of an item. */
  rowOf(item: Item, link: RowLink): ComponentChildren
  /** Whether each row has a second line. */
  hasNotes?: boolean
}

interface SearchProps {
  route: Route
  placeholder: string
  /**
   * Whether a search starts only on Enter. Set if the server runs the search, to avoid a request
   * for each typed letter.
   */
  isByEnter?: boolean
  /** Links below the search field that narrow the list. */
  filters?: ComponentChildren
  /** The number of results, as text. */
  count?: string | undefined
}

interface RecordsProps<Item, Open extends Item> extends ListProps<Item>, SearchProps {
  resource: Resource<unknown>
  open: Open | undefined
  /** Whether the open item is being loaded. */
  isOpening?: boolean
  /** Renders the pane of the open item. */
  pane(open: Open, back: string): ComponentChildren
  /** The reason why no record matches the search. */
  reason?: string | undefined
  /**
   * The dialog that adds a record. `submit` adds the record and returns the last segment of the
   * record's URL.
   */
  add?: Pick<JsonDialogProps, 'title' | 'value' | 'fields'> & {
    submit(fields: object): Promise<string>
  }
}

/** A view of one kind of record, with a search field, a list, and the record that the URL names. */
export function RecordsView<Item, Open extends Item>(props: RecordsProps<Item, Open>) {
  const { route, resource, open, isOpening = false, pane, add } = props
  const { value, isLoading, error } = resource
  const { view, rest, params } = route
  const [isAdding, setAdding] = useState(false)
  const addAction = add && { name: 'Add', isReadOnly: true, run: () => setAdding(true) }
  useCommands(addAction && add ? [{ ...addAction, name: add.title }] : [])
  const back = hrefTo([view], { q: searchTextOf(params) })
  useCloseOnEscape(back)
  const head = (
    <RecordSearch {...props} count={error === undefined ? props.count : undefined}>
      {addAction && <ActionButtons actions={[addAction]} />}
    </RecordSearch>
  )
  const isConnected = useConnectionProblem() === undefined
  // Without a connection, a record that isn't loaded may still exist, so don't report it as
  // missing.
  const isMissing = isConnected && value !== undefined && !isLoading && !isOpening
  return (
    <div class="view">
      <h1 class="visually-hidden">{view.replace(/^./, (letter) => letter.toUpperCase())}</h1>
      <Panes isOpen={rest.length > 0}>
        <Pane label={`All ${view}`} head={head}>
          <RecordsBody {...props} />
        </Pane>
        {open ? (
          pane(open, back)
        ) : (
          <EmptyPane back={rest[0] && back}>
            {rest.length === 0 && 'Select an item to see it here.'}
            {rest.length > 0 && isMissing && `This environment has no ${rest.join('/')}.`}
          </EmptyPane>
        )}
      </Panes>
      {isAdding && add && <AddDialog view={view} add={add} close={() => setAdding(false)} />}
    </div>
  )
}

/**
 * The list of records, an error, or an empty state. During a connection problem, keeps showing the
 * list, because `ConnectionNote` shows the problem above the view.
 */
function RecordsBody<Item, Open extends Item>(props: RecordsProps<Item, Open>) {
  const { route, resource, items, reason } = props
  const { value, error, reload } = resource
  const problem = useConnectionProblem()
  if (error !== undefined && !problem) return <ErrorNote error={error} retry={reload} />
  if (items.length > 0) return <RecordList {...props} />
  return value === undefined ? null : <NoRecords route={route} reason={reason} />
}

/** Closes the open record on Escape and focuses its row. */
export function useCloseOnEscape(back: string) {
  useShortcut('escape', () => {
    const row = document.querySelector<HTMLElement>('[data-item][aria-current="true"]')
    navigate(back)
    // On narrow screens, the row is hidden until the next render.
    setTimeout(() => row?.focus())
  })
}

function RecordSearch({
  route: { view, rest, params },
  placeholder,
  isByEnter = false,
  filters,
  count,
  children
}: SearchProps & { children: ComponentChildren }) {
  // A search that runs on the server closes the open record and adds a history entry.
  const change = (q: string) => {
    const path = isByEnter ? [view] : [view, ...rest]
    navigate(hrefTo(path, { q }), { replace: !isByEnter })
  }
  return (
    <>
      <SearchLine
        label={`Search ${view}`}
        placeholder={placeholder}
        text={searchTextOf(params)}
        change={change}
        isByEnter={isByEnter}
      >
        <span class="hint" role="status">
          {count}
        </span>
        {children}
      </SearchLine>
      {filters}
    </>
  )
}

function RecordList<Item>(props: ListProps<Item> & { open: Item | undefined }) {
  const { route, label, items, onEnd, pathOf, rowOf, hasNotes, open } = props
  const q = searchTextOf(route.params)
  const hrefOf = (item: Item) => hrefTo([route.view, ...(pathOf(item) ?? [])], { q })
  return (
    <VirtualList
      label={label}
      items={items}
      onEnd={onEnd}
      heightOf={(item) => (hasNotes && pathOf(item) ? ROW_WITH_NOTE_HEIGHT : ROW_HEIGHT)}
      keyOf={(item) => pathOf(item) && hrefOf(item)}
      current={open && hrefOf(open)}
      isScrolledTo
      select={(href) => navigate(String(href), { replace: true })}
    >
      {(item, place) => rowOf(item, { ...place, href: hrefOf(item) })}
    </VirtualList>
  )
}

function NoRecords({ route, reason }: { route: Route; reason: string | undefined }) {
  const { view, params } = route
  if (searchTextOf(params) === '') {
    return (
      <EmptyList title={`No ${view} yet`}>
        <p>To add some, load a seed from the environment menu.</p>
      </EmptyList>
    )
  }
  return (
    <EmptyList title={`No matching ${view}`}>
      <p dir="auto">{reason}</p>
      <a href={hrefTo([view])}>All {view}</a>
    </EmptyList>
  )
}

interface AddDialogProps {
  view: string
  add: NonNullable<RecordsProps<unknown, unknown>['add']>
  close(): void
}

function AddDialog({ view, add, close }: AddDialogProps) {
  const { reloadAll } = useSession()
  const submit = async (fields: Fields) => {
    const id = await add.submit(fields)
    reloadAll()
    navigate(hrefTo([view, id]))
  }
  return <JsonDialog {...add} submit={submit} close={close} />
}
