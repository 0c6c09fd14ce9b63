import { useEffect, useRef } from 'preact/hooks'
import { useKey } from '../../parts/keys.js'
import type { MessagesPage } from './query.js'

/** Goes from page to page: by buttons, by number, and by the keys `n` and `p`. */
export function Pager({
  page: { page, pageSize, totalCount, hasMore, data },
  isLoading,
  show
}: {
  page: MessagesPage
  isLoading: boolean
  show: (page: number) => void
}) {
  const last = totalCount === undefined ? undefined : Math.max(0, Math.ceil(totalCount / pageSize) - 1)
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => {
    if (field.current) field.current.value = String(page)
  }, [page])
  useKey('n', () => hasMore && show(page + 1))
  useKey('p', () => page > 0 && show(page - 1))
  const first = page * pageSize
  return (
    <nav class="row pager" aria-label="Pages">
      <button type="button" aria-label="First page" disabled={page === 0 || isLoading} onClick={() => show(0)}>
        ⇤
      </button>
      <button
        type="button"
        aria-label="Previous page"
        aria-keyshortcuts="p"
        title="Previous page (p)"
        disabled={page === 0 || isLoading}
        onClick={() => show(page - 1)}
      >
        ←
      </button>
      <label class="inline">
        page
        <input
          ref={field}
          type="number"
          min={0}
          max={last}
          onChange={(event) => show(Math.max(0, Math.trunc(Number(event.currentTarget.value) || 0)))}
        />
        {last !== undefined && (last === 0 ? 'is the only one' : `of 0 to ${last.toLocaleString('en')}`)}
      </label>
      <button
        type="button"
        aria-label="Next page"
        aria-keyshortcuts="n"
        title="Next page (n)"
        disabled={!hasMore || isLoading}
        onClick={() => show(page + 1)}
      >
        →
      </button>
      <button
        type="button"
        aria-label="Last page"
        title={last === undefined ? 'The profile tells no totalCount' : 'Last page'}
        disabled={last === undefined || page >= last || isLoading}
        onClick={() => show(last ?? 0)}
      >
        ⇥
      </button>
      <span class="hint" role="status">
        {data.length === 0
          ? 'none'
          : `${(first + 1).toLocaleString('en')}–${(first + data.length).toLocaleString('en')}`}
        {totalCount === undefined
          ? hasMore
            ? ', and there may be more'
            : ''
          : ` of ${totalCount.toLocaleString('en')}`}
      </span>
    </nav>
  )
}
