import { type Command, Option } from 'commander'
import { connect } from '../client/connect.js'
import type { Coverage, CoverageItem, OperationCoverage } from '../client/control-api.js'
import { MockError } from '../client/errors.js'
import { StartError } from '../core/errors.js'
import { serverUrl, USUAL_URL, usualServer } from './health.js'
import { addOptions, countOption, flagOnly, textOption } from './options.js'
import { printable } from './printable.js'

/** In milliseconds. */
const TIMEOUT = 10_000

interface Access {
  apiKey?: string | undefined
  adminToken?: string | undefined
}

interface Flags extends Access {
  json?: boolean
  markdown?: boolean
  min?: number
}

export function addCoverage(program: Command): void {
  const command = program
    .command('coverage')
    .description('report how much of the contract the requests to a running server have met, and what they have not')
    .argument('[url]', `where the server is (default: NOTIFICATION_MOCK_URL, else ${USUAL_URL})`, serverUrl)
    .addHelpText('after', EXPLANATION)
  const options = [
    // Its variable is set inside of exec, where the whole server is meant too.
    flagOnly(
      textOption('--api-key <key>', 'report on the environment of this key; only as a flag', 'the whole server')
    ),
    textOption('--admin-token <token>', "the server's, to ask it from another machine", 'none'),
    new Option('--json', 'print the report as JSON').conflicts('markdown'),
    new Option('--markdown', 'print the report in Markdown, for the summary of a job'),
    minOption('--min <percent>')
  ]
  addOptions(command, options).action(async (given: string | undefined, flags: Flags) => {
    const { json, markdown, min, apiKey, adminToken } = flags
    const coverage = await fetchCoverage(given ?? usualServer(), { apiKey, adminToken })
    const formats = { json: `${JSON.stringify(coverage, null, 2)}\n`, markdown: coverageMarkdown(coverage) }
    process.stdout.write((json && formats.json) || (markdown && formats.markdown) || coverageText(coverage))
    const shortfall = coverageShortfall(coverage, min)
    if (shortfall) throw new StartError(shortfall)
  })
}

const EXPLANATION = `
Exit codes: 0 done; 1 there is no report, or the coverage is below the minimum; 2 the command line is wrong.

Examples:
  $ notification-mock coverage http://127.0.0.1:4210
  $ notification-mock coverage --min 80
  $ notification-mock coverage --markdown >> "$GITHUB_STEP_SUMMARY"`

/** A flag for the coverage below which a command fails. */
export function minOption(flags: string): Option {
  return countOption(flags, 'fail if the coverage is below this percentage', 100).default(undefined, 'none')
}

/** Returns what to say when the coverage is below the minimum, and undefined when it is not. */
export function coverageShortfall({ percentage }: Pick<Coverage, 'percentage'>, min = 0): string | undefined {
  if (percentage >= min) return undefined
  return `the coverage of the contract is ${percentage} %, below the minimum of ${min} %`
}

/**
 * Returns the coverage that a server reports: of the environment of a key, or without one of all its requests. Throws
 * `StartError` when it does not.
 */
export async function fetchCoverage(url: string, { apiKey, adminToken }: Access = {}): Promise<Coverage> {
  const inTime: typeof fetch = (input, init) => fetch(input, { ...init, signal: AbortSignal.timeout(TIMEOUT) })
  try {
    const mock = connect(url, { adminToken, fetch: inTime })
    return await (apiKey ? mock.attach(apiKey) : mock).coverage()
  } catch (error) {
    throw error instanceof MockError ? new StartError(error.message) : error
  }
}

/** Returns a report for people: a table, then what was not met and how to meet it. */
export function coverageText(coverage: Coverage): string {
  const rows = [
    ['operation', 'met', 'requests'],
    ...coverage.operations.map((each) => [each.operation, `${each.covered} of ${each.total}`, `${each.requests}`])
  ]
  const widths = [0, 1, 2].map((column) => Math.max(...rows.map((row) => (row[column] ?? '').length)))
  const table = rows.map((row) =>
    `  ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}`.trimEnd()
  )
  const missed = missedItems(coverage).map(({ label, state, item }) => `${label}: ${state}; to meet it: ${item.how}`)
  const notes = notesOf(coverage, (name) => name)
  return [
    `${titleOf(coverage)}\n`,
    ...table,
    ...(missed.length > 0 ? ['', ...missed, '', IDS] : []),
    ...(notes.length > 0 ? ['', ...notes] : []),
    ''
  ].join('\n')
}

/** Returns the same in Markdown, such as GitHub shows in the summary of a job. */
export function coverageMarkdown(coverage: Coverage): string {
  const missed = missedItems(coverage)
  const notes = notesOf(coverage, code)
  return [
    `## ${titleOf(coverage)}\n`,
    '| operation | met | requests |',
    '|---|---|---|',
    ...coverage.operations.map(
      (each) => `| ${code(each.operation)} | ${each.covered} of ${each.total} | ${each.requests} |`
    ),
    ...(missed.length > 0 ? ['', '| not met | how to meet it |', '|---|---|'] : []),
    ...missed.map(
      ({ label, state, item }) => `| ${label}: ${state} | ${item.how.replaceAll('|', '\\|').replaceAll('<', '&lt;')} |`
    ),
    ...(missed.length > 0 ? ['', IDS] : []),
    ...(notes.length > 0 ? ['', ...notes.map((note) => `- ${note}`)] : []),
    ''
  ].join('\n')
}

const IDS = 'The ids in these requests are those of the default seed.'

function titleOf({ percentage, covered, total, environment }: Coverage): string {
  const where = environment === undefined ? '' : ` in ${printable(environment)}`
  return `Coverage of the contract${where}: ${percentage} % (${covered} of ${total})`
}

function missedItems({ operations }: Coverage) {
  return operations.flatMap((operation) =>
    operation.items
      .filter(({ covered }) => !covered)
      .map((item) => ({ item, label: labelOf(operation, item), state: stateOf(item) }))
  )
}

function labelOf({ operation }: OperationCoverage, { kind, name }: CoverageItem): string {
  return kind === 'operation' ? operation : `${name} of ${operation}`
}

function stateOf({ kind, injected }: CoverageItem): string {
  if (injected > 0) return 'met by a fault only'
  return kind === 'operation' ? 'never called' : 'never met'
}

/** What requests did beside the contract, and what of it was injected. */
function notesOf({ operations, unserved }: Coverage, quote: (name: string) => string): string[] {
  return [
    ...operations.flatMap((operation) => [
      ...operation.items
        .filter(({ kind, injected }) => kind === 'status' && injected > 0)
        .map((item) => `${labelOf(operation, item)}: injected ${times(item.injected)}`),
      ...operation.others.map(({ status, met, injected }) => {
        const counts = [met > 0 ? `met ${times(met)}` : '', injected > 0 ? `injected ${times(injected)}` : '']
        return `${status} of ${operation.operation}, which is not documented: ${counts.filter(Boolean).join(', ')}`
      }),
      ...operation.unread.map(
        ({ parameter, requests }) =>
          `${quote(printable(parameter))} of ${operation.operation}, a parameter that it does not read: sent ${times(requests)}`
      )
    ]),
    ...unserved.targets.map(
      ({ method, path, requests }) =>
        `${quote(printable(`${method} ${path}`))}, which no operation serves: sent ${times(requests)}`
    )
  ]
}

function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`
}

function code(text: string): string {
  // A longer run of backticks than the text has.
  const fence = '`'.repeat(1 + Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length)))
  const space = fence.length > 1 ? ' ' : ''
  return `${fence}${space}${text.replaceAll('|', '\\|')}${space}${fence}`
}
