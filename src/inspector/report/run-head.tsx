import type { Report } from '../../client/report.js'
import { Chip } from '../parts/chip.js'
import { formatTime } from '../parts/format-time.js'
import { Icon } from '../parts/icon.js'
import { OUTCOMES } from './entries.js'

interface RunHeadProps {
  report: Report
  /** The label of the figure that filters the list of tests, or an empty string. */
  filter: string
  changeFilter(filter: string): void
}

/**
 * The top of the report, with the run's command, settings and figures. Clicking a figure filters
 * the list of tests; clicking it again shows all tests.
 */
export function RunHead({ report, filter, changeFilter }: RunHeadProps) {
  const { run, dropped, coverage } = report
  const unmocked = coverage.unmocked.targets.map(describeUnmocked)
  return (
    <header class="report-head">
      <Icon name="bell" />
      <div class="report-title" dir="auto">
        <h1 class="cut">{run.command ?? 'Test run'}</h1>
        <p class="hint">{factsOf(run).join(' · ')}</p>
        {unmocked.length > 0 && <p class="hint">Not mocked: {unmocked.join(', ')}</p>}
        {dropped > 0 && (
          <Chip tone="warn">{dropped.toLocaleString()} more tests didn't fit into the report</Chip>
        )}
      </div>
      <dl class="report-figures">
        {figuresOf(report).map(({ label, value, isBad, isFilter }) => (
          <div key={label}>
            <dt class="hint">{label}</dt>
            <dd class={isBad ? 'big is-bad toned' : 'big'}>
              {isFilter ? (
                <button
                  type="button"
                  aria-label={`Show only ${label}: ${value}`}
                  aria-pressed={filter === label}
                  onClick={() => changeFilter(filter === label ? '' : label)}
                >
                  {value}
                </button>
              ) : (
                value
              )}
            </dd>
          </div>
        ))}
      </dl>
    </header>
  )
}

function describeUnmocked({
  method,
  path,
  requests
}: Report['coverage']['unmocked']['targets'][number]): string {
  return `${method} ${path} (${requests.toLocaleString()}×)`
}

function factsOf(run: Report['run']): string[] {
  const assumptions = Object.entries(run.assumptions).map((assumption) => assumption.join('='))
  return [
    formatTime(run.started),
    ...(run.mergedFrom ? [`merged reports: ${run.mergedFrom.length}`] : []),
    ...(run.exitCode === undefined ? [] : [`exit code ${run.exitCode}`]),
    `profile ${[run.profile, ...assumptions].join(', ')}`,
    `notification-mock ${run.version}`,
    `Node ${run.node.replace(/^v/, '')}`
  ]
}

interface Figure {
  label: string
  value: string
  isBad?: boolean
  /** Whether clicking the figure filters the list of tests. */
  isFilter?: boolean
}

function figuresOf({ run, tests, coverage, unauthenticated }: Report): Figure[] {
  const outcomes = Object.keys(OUTCOMES).map((outcome) => ({
    outcome,
    count: tests.filter((test) => test.outcome === outcome).length
  }))
  const outcomeFigures = outcomes
    .filter(({ count, outcome }) => count > 0 || outcome === 'failed')
    .map(({ count, outcome }) => ({
      label: outcome,
      value: count.toLocaleString(),
      isBad: outcome === 'failed' && count > 0,
      isFilter: count > 0
    }))
  const requestFigures = [
    { label: 'unauthenticated', count: unauthenticated.length },
    { label: 'not mocked', count: coverage.unmocked.requests }
  ].filter(({ count }) => count > 0)
  return [
    ...outcomeFigures,
    { label: 'requests', value: coverage.requests.toLocaleString() },
    ...requestFigures.map(({ label, count }) => ({
      label,
      value: count.toLocaleString(),
      isFilter: true
    })),
    { label: 'API coverage', value: `${coverage.percentage} %` },
    { label: 'duration', value: `${(run.duration / 1000).toFixed(1)} s` }
  ]
}
