import type { CoverageItem } from '../../../client/index.js'

const KINDS: Record<CoverageItem['kind'], string> = {
  operation: 'the operation',
  status: 'answered with',
  query: 'query',
  value: 'query',
  list: 'query',
  header: 'header'
}

/** What the contract documents of an operation, whether it was met, and if not, how to meet it. */
export function CoverageItems({ items, label }: { items: readonly CoverageItem[]; label: string }) {
  return (
    <table class="coverage" aria-label={label}>
      <thead>
        <tr>
          <th scope="col">Met</th>
          <th scope="col">What the contract documents</th>
          <th scope="col" class="number">
            Requests
          </th>
        </tr>
      </thead>
      <tbody>
        {items.map((item) => (
          <tr key={item.id}>
            <td>{item.covered ? <span class="badge is-good">met</span> : <span class="badge is-warn">never</span>}</td>
            <td>
              <span class="hint">{KINDS[item.kind]}</span> <strong>{item.name}</strong>
              {item.byFault && <span class="hint"> (by a fault)</span>}
              {!item.covered && <div class="how">{item.how}</div>}
            </td>
            <td class="number">{timesText(item)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function timesText({ met, injected, byFault }: CoverageItem): string {
  if (byFault) return String(met + injected)
  return injected > 0 ? `${met} (and ${injected} by faults)` : String(met)
}
