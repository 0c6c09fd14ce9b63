import { Search } from '../../parts/search.js'
import type { Filter } from './filter.js'

const OPERATIONS = ['listMessages', 'setIntegrationAsPrimary', 'retrieveWorkflowStep']
const CLASSES: [value: string, text: string][] = [
  ['', 'Any status'],
  ['2xx', '2xx success'],
  ['4xx', '4xx client error'],
  ['5xx', '5xx server error'],
  ['none', 'No answer']
]
const CODES = ['200', '400', '401', '403', '404', '409', '413', '422', '429', '500', '502', '503', '504']

/** The fields that say which requests are shown. */
export function Filters({ filter, change }: { filter: Filter; change: (filter: Filter) => void }) {
  const { operation, status, text } = filter
  const isOther = status !== '' && !CODES.includes(status) && CLASSES.every(([value]) => value !== status)
  return (
    <search class="row requests-filters">
      <select
        aria-label="Operation"
        value={operation}
        onChange={(event) => change({ ...filter, operation: event.currentTarget.value })}
      >
        <option value="">Any operation</option>
        {OPERATIONS.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
        <option value="none">Served by none</option>
      </select>
      <select
        aria-label="Status"
        value={status}
        onChange={(event) => change({ ...filter, status: event.currentTarget.value })}
      >
        {CLASSES.map(([value, name]) => (
          <option key={value} value={value}>
            {name}
          </option>
        ))}
        {(isOther ? [status, ...CODES] : CODES).map((code) => (
          <option key={code} value={code}>
            {code}
          </option>
        ))}
      </select>
      <Search value={text} label="Search path, query, reason" change={(next) => change({ ...filter, text: next })} />
    </search>
  )
}
