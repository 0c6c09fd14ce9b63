import { type Command, Option } from 'commander'
import type { Coverage, OperationCoverage } from '../client/control-api.js'
import { countOf } from '../domain/count.js'
import { StartError } from '../domain/errors.js'
import { connect, MockError } from '../index.js'
import { printable } from '../platform/printable.js'
import { addOptions, countOption, textOption, withoutVariable } from './options.js'
import { DEFAULT_URL, defaultServer, serverUrl } from './reach.js'
import { printOutcome } from './terminal.js'

type Access = { apiKey?: string; adminToken?: string }
type CoverageFlags = Access & { all?: true; json?: true; min?: number }

export function addCommands(root: Command): void {
  const key = 'report on the environment of this API key'
  const command = root
    .command('coverage')
    .helpGroup('Test against it:')
    .description('print how much of the API was covered by requests to a running server')
    .argument(
      '[url]',
      `URL of the server (default: NOTIFICATION_MOCK_URL, else ${DEFAULT_URL})`,
      serverUrl
    )
    // This flag has no environment variable, because `exec` sets NOTIFICATION_MOCK_API_KEY. If the
    // flag read that variable, `coverage` could never report on the whole server inside `exec`.
    .addOption(textOption('--api-key <key>', key, 'the whole server'))
  addOptions(command, [
    textOption(
      '--admin-token <token>',
      'admin token of the server, needed if the server is on another machine',
      'none'
    ),
    withoutVariable(new Option('--all', 'print the whole report as Markdown')),
    new Option('--json', 'print the whole report as JSON'),
    minOption()
  ]).action(async (url: string | undefined, { all, json, min, ...access }: CoverageFlags) => {
    const coverage = await fetchCoverage(url ?? defaultServer(), access)
    printOutcome(
      coverage,
      json,
      all ? coverageMarkdown : (shown) => coverageText(shown, 'use --all to list everything'),
      2
    )
    const shortfall = coverageShortfall(coverage, min)
    if (shortfall) throw new StartError(shortfall)
  })
}

/** Creates the flag for the minimum coverage. */
export const minOption = () =>
  countOption('--min <percent>', 'fail if the coverage is below this percentage', 100).default(
    undefined,
    'none'
  )

/** Returns an error message if the coverage is below the minimum. */
export function coverageShortfall(
  { percentage }: Pick<Coverage, 'percentage'>,
  min = 0
): string | undefined {
  if (percentage >= min) return undefined
  return `the coverage of the API is ${percentage} %, below the minimum of ${min} %`
}

/**
 * Fetches the coverage of the whole server or, with `apiKey`, of one environment. Rejects with
 * `StartError` if the coverage isn't available.
 */
export async function fetchCoverage(
  url: string,
  { apiKey, adminToken }: Access = {}
): Promise<Coverage> {
  try {
    const mock = connect(url, { adminToken })
    return await (apiKey ? mock.attach(apiKey) : mock).coverage()
  } catch (error) {
    throw error instanceof MockError ? new StartError(error.message) : error
  }
}

/** The maximum number of lines that `coverageText` returns. */
const MAX_LINES = 12

/**
 * Returns the report, cut to `MAX_LINES` lines. If lines are left out, the last line gives their
 * number and ends with the text in `more`.
 */
export function coverageText(coverage: Coverage, more: string): string {
  const lines = reportLines(coverage, { withHow: false })
  if (lines.length <= MAX_LINES) return `${lines.join('\n')}\n`
  const shown = lines.slice(0, MAX_LINES - 1)
  return `${shown.join('\n')}\nand ${lines.length - shown.length} more: ${more}\n`
}

/** Returns the whole report as Markdown, including how to cover each missing item. */
export function coverageMarkdown(coverage: Coverage): string {
  const [title, ...lines] = reportLines(coverage, { withHow: true })
  return `## ${title}\n\n${lines.map((line) => `- ${line}\n`).join('')}`
}

function reportLines(coverage: Coverage, { withHow }: { withHow: boolean }): string[] {
  const { percentage, covered, total, environment, operations, unmocked } = coverage
  const scope = environment === undefined ? '' : ` in ${printable(environment)}`
  return [
    `Coverage of the API${scope}: ${percentage} % (${covered} of ${total})`,
    ...operations.map(operationLine),
    ...operations.flatMap(undocumentedLines),
    ...unmocked.targets.map(({ method, path, requests }) => {
      return `${code(`${method} ${path}`)} is not mocked: sent ${times(requests)}`
    }),
    ...operations.flatMap((operation) => missingLines(operation, withHow))
  ]
}

function operationLine({ operation, covered, total, requests }: OperationCoverage): string {
  return `${operation}: ${covered} of ${total} covered by ${countOf(requests, 'request')}`
}

/** Returns lines about statuses and parameters that the API reference doesn't document. */
function undocumentedLines({ operation, others, unknownParameters }: OperationCoverage): string[] {
  const statuses = others.map(({ status, count, injected }) => {
    const counts = [
      count > 0 && `returned ${times(count)}`,
      injected > 0 && `injected ${times(injected)}`
    ]
    return `${status} of ${operation} is not documented: ${counts.filter(Boolean).join(', ')}`
  })
  const parameters = unknownParameters.map(({ parameter, requests }) => {
    return `${code(parameter)} is not a parameter of ${operation}: sent ${times(requests)}`
  })
  return [...statuses, ...parameters]
}

function missingLines({ operation, items }: OperationCoverage, withHow: boolean): string[] {
  return items.flatMap(({ kind, name, covered, injected, how }) => {
    if (covered) return []
    const label = kind === 'operation' ? operation : `${name} of ${operation}`
    const missing = kind === 'operation' ? 'never called' : 'not covered'
    const state = injected > 0 ? 'covered only by an injected fault' : missing
    return withHow ? `${label}: ${state}; ${how.replaceAll('<', '&lt;')}` : `${label}: ${state}`
  })
}

const times = (count: number) => (count === 1 ? 'once' : `${count} times`)

/** Formats a string as inline code in Markdown. */
const code = (text: string) => `\`${printable(text).replaceAll('`', encodeURIComponent)}\``
