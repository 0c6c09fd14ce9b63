import { useEffect, useRef } from 'preact/hooks'
import { CHANNELS } from '../../parts/channels.js'
import { useKey } from '../../parts/keys.js'
import { TextList } from '../../parts/text-list.js'
import type { ListQuery } from './query.js'

const LIMITS = ['10', '25', '50', '100', '1000']

interface Props {
  query: ListQuery
  show: (changes: Partial<ListQuery>) => void
}

/** The filters of the list, under the names that the service has for them. A change sends the request. */
export function Filters({ query, show }: Props) {
  const { channel, subscriberId, transactionId, contextKeys, hasNoContext, limit } = query
  const first = useRef<HTMLInputElement>(null)
  // A field with a value of its own, as the address only changes by Enter.
  useEffect(() => {
    if (first.current) first.current.value = subscriberId ?? ''
  }, [subscriberId])
  useKey('/', () => first.current?.focus())
  return (
    <search class="filters">
      <label>
        channel
        <Choice value={channel} values={CHANNELS} none="all" change={(value) => show({ channel: value })} />
      </label>
      <label>
        subscriberId
        <input
          ref={first}
          type="search"
          dir="auto"
          placeholder="exactly this  /"
          onChange={(event) => show({ subscriberId: event.currentTarget.value || undefined })}
        />
      </label>
      <div class="labelled">
        <span aria-hidden="true">transactionId</span>
        <TextList
          label="transactionId"
          values={transactionId}
          placeholder="any of these"
          change={(values) => show({ transactionId: values })}
        />
      </div>
      <div class="labelled">
        <span aria-hidden="true">contextKeys</span>
        <TextList
          label="contextKeys"
          values={hasNoContext ? [] : contextKeys}
          placeholder={hasNoContext ? 'none' : 'exactly these, type:id'}
          change={(values) => show({ contextKeys: values, hasNoContext: false })}
        />
        <label class="inline">
          <input
            type="checkbox"
            checked={hasNoContext}
            onChange={(event) => show({ hasNoContext: event.currentTarget.checked, contextKeys: [] })}
          />
          in no context
        </label>
      </div>
      <label>
        limit
        <Choice value={limit} values={LIMITS} none="default" change={(value) => show({ limit: value })} />
      </label>
    </search>
  )
}

/** A choice that also has a value that is none of its own, such as one typed into the address. */
function Choice<Value extends string>({
  value,
  values,
  none,
  change
}: {
  value: string | undefined
  values: readonly Value[]
  none: string
  change: (value: Value | undefined) => void
}) {
  const all: readonly string[] =
    value === undefined || values.some((each) => each === value) ? values : [...values, value]
  return (
    <select value={value ?? ''} onChange={(event) => change((event.currentTarget.value || undefined) as Value)}>
      <option value="">{none}</option>
      {all.map((each) => (
        <option key={each} value={each}>
          {each}
        </option>
      ))}
    </select>
  )
}
