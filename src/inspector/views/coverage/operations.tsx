import './coverage.css'
import type { Coverage, CoverageItem } from '../../../client/index.js'
import { Chip } from '../../parts/chip.js'

/** What of each operation was met, and how to meet the rest. */
export function Operations({ operations }: Pick<Coverage, 'operations'>) {
  return operations.map(({ operation, method, path, covered, total, items }) => (
    <section key={operation} class="card coverage" aria-label={operation}>
      <div class="head-title">
        <h2>{operation}</h2>
        <code class="muted">{`${method} ${path}`}</code>
        <b>{`${covered} of ${total}`}</b>
      </div>
      <progress max={total} value={covered} aria-label={`Met of ${operation}`} />
      <ul aria-label={`Not met of ${operation}`}>
        {items
          .filter((item) => !item.covered)
          .map((item) => (
            <li key={item.id}>
              <b>{wordsOf(item)}</b>
              <span class="muted">{item.how}</span>
            </li>
          ))}
      </ul>
      <p class="line">
        {items
          .filter((item) => item.covered)
          .map((item) => (
            <Chip key={item.id} tone={item.byFault ? 'fault' : 'good'}>
              {wordsOf(item)}
            </Chip>
          ))}
      </p>
    </section>
  ))
}

function wordsOf({ kind, name }: CoverageItem): string {
  if (kind === 'operation') return 'called'
  return kind === 'status' ? `answered with ${name}` : kind === 'header' ? `header ${name}` : name
}
