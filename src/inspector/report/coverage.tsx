import type { Coverage } from '../../client/index.js'
import { Chip } from '../parts/chip.js'
import { Close, Pane, Scroll } from '../parts/pane.js'

/** How much of the contract the run has met, and what it has not. */
export function CoverageOfRun({ coverage }: { coverage: Coverage }) {
  const head = (
    <div class="head">
      <div class="head-title">
        <h2>Coverage of the contract</h2>
        <span class="hint">
          {coverage.percentage} %, {coverage.covered} of {coverage.total}
        </span>
        <Close back="#" />
      </div>
    </div>
  )
  return (
    <Pane label="Coverage of the contract" head={head}>
      <Scroll>
        {coverage.operations.map(({ operation, method, path, covered, total, items }) => (
          <section key={operation}>
            <h2>
              <code>
                {method} {path}
              </code>{' '}
              <Chip tone={covered === total ? 'good' : undefined}>
                {covered} of {total}
              </Chip>
            </h2>
            <ul class="records">
              {items
                .filter((item) => !item.covered)
                .map(({ id, name, how }) => (
                  <li key={id} dir="auto">
                    <b>{name}</b> <span class="muted">{how}</span>
                  </li>
                ))}
            </ul>
          </section>
        ))}
      </Scroll>
    </Pane>
  )
}
