import './coverage.css'
import type { Coverage, OperationCoverage } from '../../../client/index.js'
import { Empty } from '../../parts/empty.js'
import { ErrorNote } from '../../parts/errors.js'
import { useNotices } from '../../parts/notices.js'
import { useResource } from '../../parts/resource.js'
import { useCommands } from '../../shell/palette.js'
import { addressOf } from '../../shell/router.js'
import { useSession } from '../../shell/session.js'
import type { ViewProps } from '../view.js'
import { CoverageItems } from './items.js'

interface Choice {
  /** Only what was never met. */
  isMissing: boolean
  /** Of all environments, where the server lists them. */
  isOfServer: boolean
}

/** What of the contract requests have met: at `#/coverage?show=missing&of=server`. */
export function CoverageView({ route: { params } }: ViewProps) {
  const { mock, env, listed, version } = useSession()
  const choice = {
    isMissing: params.get('show') === 'missing',
    isOfServer: params.get('of') === 'server' && listed !== undefined
  }
  const load = () => (choice.isOfServer ? mock.coverage() : env.coverage())
  const { value, error, isLoading, isBusy, reload } = useResource(load, [mock, env, version, choice.isOfServer])
  const { run } = useNotices()
  const clear = async () => {
    await run(() => (choice.isOfServer ? mock.clearCoverage() : env.clearCoverage()), 'The count begins again')
    reload()
  }
  useCommands([
    { name: 'Load the coverage again', run: reload },
    { name: 'Count the coverage again from nothing', run: clear }
  ])
  return (
    <>
      <div class="view-head">
        <h1>Coverage</h1>
        <Choices choice={choice} value={value} />
        <span class="row spread">
          <button type="button" disabled={isBusy} onClick={reload}>
            Load again
          </button>
          <button type="button" class="danger" disabled={isBusy || value?.requests === 0} onClick={clear}>
            Count from nothing
          </button>
        </span>
      </div>
      {error !== undefined && !isLoading && <ErrorNote error={error} retry={reload} />}
      {value && <Report coverage={value} choice={choice} />}
    </>
  )
}

function Choices({ choice, value }: { choice: Choice; value: Coverage | undefined }) {
  const { listed } = useSession()
  const { isMissing, isOfServer } = choice
  const address = (isMissing: boolean, isOfServer: boolean) =>
    addressOf(['coverage'], { show: isMissing ? 'missing' : '', of: isOfServer ? 'server' : '' })
  const link = (text: string, href: string, isChosen: boolean) => (
    <a class="button" href={href} aria-current={isChosen ? 'true' : undefined}>
      {text}
    </a>
  )
  return (
    <nav class="row choices" aria-label="What to show">
      {link('All', address(false, isOfServer), !isMissing)}
      {link(`Never met${value ? ` (${value.total - value.covered})` : ''}`, address(true, isOfServer), isMissing)}
      {listed && (
        <>
          <span class="apart" />
          {link('This environment', address(isMissing, false), !isOfServer)}
          {link('Whole server', address(isMissing, true), isOfServer)}
        </>
      )}
    </nav>
  )
}

function Report({ coverage, choice }: { coverage: Coverage; choice: Choice }) {
  const { percentage, covered, total, requests, operations, unserved } = coverage
  const isComplete = covered === total
  return (
    <>
      <section class="card total" aria-label="Altogether">
        <strong>{percentage} %</strong>
        <div>
          <progress max={total} value={covered} aria-label="Met of the contract" />
          <p>
            {covered} of {total} things that the contract documents were met by {count(requests, 'request')}
            {choice.isOfServer ? ' to all environments.' : '.'} Those that this page sends count too.
          </p>
        </div>
      </section>
      {choice.isMissing && isComplete && (
        <Empty title="Everything that the contract documents was met">
          <a href={addressOf(['coverage'], { of: choice.isOfServer ? 'server' : '' })}>Show all of it</a>
        </Empty>
      )}
      {operations
        .filter((operation) => !choice.isMissing || operation.covered < operation.total)
        .map((operation) => (
          <Operation key={operation.operation} operation={operation} isMissing={choice.isMissing} />
        ))}
      {unserved.requests > 0 && !choice.isMissing && <Unserved unserved={unserved} />}
    </>
  )
}

function Operation({ operation, isMissing }: { operation: OperationCoverage; isMissing: boolean }) {
  const { operation: name, method, path, requests, covered, total, items, others, unread } = operation
  return (
    <section class="card" aria-label={name}>
      <div class="row">
        <h2>{name}</h2>
        <code>
          {method} {path}
        </code>
        <span class="row spread">
          <span class="hint">{count(requests, 'request')}</span>
          <progress max={total} value={covered} aria-label={`Met of ${name}`} />
          <strong>
            {covered} of {total}
          </strong>
        </span>
      </div>
      <CoverageItems items={items.filter((item) => !isMissing || !item.covered)} label={name} />
      {others.length > 0 && (
        <p>
          Answered too, though the contract does not document it:{' '}
          {others
            .map(({ status, met, injected }) => `${status} (${met} by the server, ${injected} by faults)`)
            .join(', ')}
        </p>
      )}
      {unread.length > 0 && (
        <p class="unread">
          Sent, but not read by the operation:{' '}
          {unread.map(({ parameter, requests: times }) => (
            <span key={parameter}>
              <code dir="auto">{parameter}</code> ({times}){' '}
            </span>
          ))}
        </p>
      )}
    </section>
  )
}

function Unserved({ unserved: { requests, targets } }: { unserved: Coverage['unserved'] }) {
  return (
    <section class="card" aria-label="Not served">
      <div class="row">
        <h2>Not served</h2>
        <span class="hint">{count(requests, 'request')} that no operation serves</span>
      </div>
      <ul class="targets">
        {targets.map(({ method, path, requests: times }) => (
          <li key={`${method} ${path}`}>
            <code dir="auto">
              {method} {path}
            </code>{' '}
            <span class="hint">{count(times, 'request')}</span>
          </li>
        ))}
      </ul>
      {targets.length === 20 && <p class="hint">The first 20 methods and paths.</p>}
    </section>
  )
}

function count(number: number, noun: string): string {
  return `${number.toLocaleString()} ${noun}${number === 1 ? '' : 's'}`
}
