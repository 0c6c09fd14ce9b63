import './coverage.css'
import type { Coverage, CoverageItem, OperationCoverage } from '../../../client/index.js'
import { Chip } from '../../parts/chip.js'
import { ErrorNote } from '../../parts/errors.js'
import { Pane, Panes, Scroll } from '../../parts/pane.js'
import { useResource } from '../../parts/resource.js'
import { useToasts } from '../../parts/toast.js'
import { addressOf } from '../../shell/router.js'
import { useSession } from '../../shell/session.js'
import type { ViewProps } from '../view.js'

/** What of the contract requests have met: of the environment, or at `#/coverage?of=server` of all. */
export function CoverageView({ route: { params } }: ViewProps) {
  const { mock, env, listed, latest } = useSession()
  const { run } = useToasts()
  const isOfServer = params.get('of') === 'server' && listed !== undefined
  const load = () => (isOfServer ? mock.coverage() : env.coverage())
  const { value, error, isLoading, isBusy, reload } = useResource(load, [mock, env, latest, isOfServer])
  const clear = async () => {
    await run(() => (isOfServer ? mock.clearCoverage() : env.clearCoverage()), 'The count begins again')
    reload()
  }
  const link = (text: string, of: string) => (
    <a
      class="button"
      aria-current={isOfServer === (of !== '') ? 'true' : undefined}
      href={addressOf(['coverage'], { of })}
    >
      {text}
    </a>
  )
  const head = (
    <div class="head coverage-head">
      {value && (
        <div class="head-title">
          <span class="big">{value.percentage} %</span>
          <h2>
            {value.covered} of {value.total} things of the contract were met
          </h2>
          <span class="hint">by {countOf(value.requests)}</span>
        </div>
      )}
      <div class="line">
        {listed && link('This environment', '')}
        {listed && link('Whole server', 'server')}
        <button type="button" class="spread" disabled={isBusy} onClick={reload}>
          Load again
        </button>
        <button type="button" disabled={isBusy || value?.requests === 0} onClick={clear}>
          Start over
        </button>
      </div>
    </div>
  )
  return (
    <div class="view">
      <h1 class="visually-hidden">Coverage</h1>
      <Panes isOpen={false}>
        <Pane label="Coverage" head={head}>
          <Scroll>
            {error !== undefined && !isLoading && <ErrorNote error={error} retry={reload} />}
            {value?.operations.map((each) => (
              <Operation key={each.operation} operation={each} />
            ))}
            {value && value.unserved.requests > 0 && <Unserved unserved={value.unserved} />}
          </Scroll>
        </Pane>
      </Panes>
    </div>
  )
}

function Operation({ operation }: { operation: OperationCoverage }) {
  const { operation: name, method, path, requests, covered, total, items, others, unread } = operation
  const missing = items.filter((item) => !item.covered)
  return (
    <section class="card coverage" aria-label={name}>
      <div class="head-title">
        <h2>{name}</h2>
        <code class="muted">
          {method} {path}
        </code>
        <span class="spread">
          <b>
            {covered} of {total}
          </b>{' '}
          <span class="hint">by {countOf(requests)}</span>
        </span>
      </div>
      <progress max={total} value={covered} aria-label={`Met of ${name}`} />
      {missing.length > 0 && (
        <ul aria-label={`Not met of ${name}`}>
          {missing.map((item) => (
            <li key={item.id}>
              <span class="dot is-warn" />
              <b>{wordsOf(item)}</b>
              <span class="muted">{item.how}</span>
            </li>
          ))}
        </ul>
      )}
      <p class="line">
        {items
          .filter((item) => item.covered)
          .map((item) => (
            <Chip key={item.id} tone={item.byFault ? 'fault' : 'good'} title={`${countOf(item.met + item.injected)}`}>
              {wordsOf(item)}
            </Chip>
          ))}
        {others.map(({ status, met, injected }) => (
          <Chip key={status} title={`${countOf(met + injected)}; the contract does not name it`}>
            answered with {status}, beyond the contract
          </Chip>
        ))}
        {unread.map(({ parameter, requests: times }) => (
          <Chip key={parameter} tone="warn" title={countOf(times)}>
            {parameter} is not read
          </Chip>
        ))}
      </p>
    </section>
  )
}

function wordsOf({ kind, name }: CoverageItem): string {
  if (kind === 'operation') return 'called'
  return kind === 'status' ? `answered with ${name}` : kind === 'header' ? `header ${name}` : name
}

function Unserved({ unserved: { requests, targets } }: Pick<Coverage, 'unserved'>) {
  return (
    <section class="card coverage" aria-label="Not served">
      <div class="head-title">
        <h2>Not served</h2>
        <span class="hint">{countOf(requests)} to paths that are no operation</span>
      </div>
      <ul>
        {targets.map(({ method, path, requests: times }) => (
          <li key={`${method} ${path}`}>
            <span class="dot is-bad" />
            <code dir="auto">
              {method} {path}
            </code>
            <span class="muted">{countOf(times)}</span>
          </li>
        ))}
      </ul>
    </section>
  )
}

function countOf(number: number): string {
  return number === 1 ? '1 request' : `${number.toLocaleString()} requests`
}
