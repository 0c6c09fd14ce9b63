import { type Command, Option } from 'commander'
import { connect } from '../client/connect.js'
import { MockError } from '../client/connection.js'
import type { Coverage } from '../client/control-api.js'
import { StartError } from '../domain/errors.js'
import { printable } from '../platform/printable.js'
import { addOptions, countOption, textOption } from './options.js'
import { serverUrl, USUAL_URL, usualServer } from './reach.js'
import { printOutcome } from './terminal.js'

type Access = { apiKey?: string; adminToken?: string }
type CoverageFlags = Access & { all?: true; json?: true; min?: number }

export function addCommands(root: Command): void {
  const key = 'report on the environment of this key; only as a flag'
  const command = root
    .command('coverage')
    .helpGroup('Test against it:')
    .description(
      'report how much of the contract the requests to a running server have met, and what they have not'
    )
    .argument(
      '[url]',
      `where the server is (default: NOTIFICATION_MOCK_URL, else ${USUAL_URL})`,
      serverUrl
    )
    // Without a variable: that is set inside of exec, where the whole server is meant too.
    .addOption(textOption('--api-key <key>', key, 'the whole server'))
  addOptions(command, [
    textOption('--admin-token <token>', "the server's, to ask it from another machine", 'none'),
    new Option('--all', 'print the whole report, in Markdown, such as for the summary of a job'),
    new Option('--json', 'print the whole report as JSON'),
    minOption()
  ]).action(async (given: string | undefined, { all, json, min, ...access }: CoverageFlags) => {
    const coverage = await fetchCoverage(given ?? usualServer(), access)
    printOutcome(
      coverage,
      json,
      all ? coverageMarkdown : (shown) => coverageText(shown, '--all shows all'),
      2
    )
    const shortfall = coverageShortfall(coverage, min)
    if (shortfall) throw new StartError(shortfall)
  })
}

/** A flag for the coverage below which a command fails. */
export const minOption = () =>
  countOption('--min <percent>', 'fail if the coverage is below this percentage', 100).default(
    undefined,
    'none'
  )

/** Returns what to say when the coverage is below the minimum, and undefined when it is not. */
export function coverageShortfall(
  { percentage }: Pick<Coverage, 'percentage'>,
  min = 0
): string | undefined {
  if (percentage >= min) return undefined
  return `the coverage of the contract is ${percentage} %, below the minimum of ${min} %`
}

/** Resolves with the coverage of an environment's or of all requests. Rejects with `StartError`, which says why not. */
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

/** Returns the beginning of a report: at most 12 lines, of which the last one may say how many more there are, and `more`. */
export function coverageText(coverage: Coverage, more: string): string {
  const lines = linesOf(coverage, false)
  const rest = lines.length > 12 ? lines.splice(11).length : 0
  return `${[...lines, ...(rest > 0 ? [`and ${rest} more: ${more}`] : [])].join('\n')}\n`
}

/** Returns a report in Markdown, such as GitHub shows in the summary of a job, with how to meet what was not met. */
export function coverageMarkdown(coverage: Coverage): string {
  const [title, ...lines] = linesOf(coverage, true)
  return `## ${title}\n\n${lines.map((line) => `- ${line}\n`).join('')}`
}

/** Returns figures, then what requests did beside the contract, then what was not met, with how to meet it if that is asked for. */
function linesOf(
  { percentage, covered, total, environment, operations, unmocked }: Coverage,
  hasHow: boolean
) {
  const where = environment === undefined ? '' : ` in ${printable(environment)}`
  return [
    `Coverage of the contract${where}: ${percentage} % (${covered} of ${total})`,
    ...operations.map(({ operation, covered, total, requests }) => {
      return `${operation}: ${covered} of ${total} met by ${requests === 1 ? '1 request' : `${requests} requests`}`
    }),
    ...operations.flatMap(({ operation, others, unknownParameters }) => [
      ...others.map(({ status, count, injected }) => {
        const counts = [
          count > 0 && `met ${times(count)}`,
          injected > 0 && `injected ${times(injected)}`
        ]
        return `${status} of ${operation}, which is not documented: ${counts.filter(Boolean).join(', ')}`
      }),
      ...unknownParameters.map(({ parameter, requests }) => {
        return `${code(parameter)} of ${operation}, which does not read it: sent ${times(requests)}`
      })
    ]),
    ...unmocked.targets.map(({ method, path, requests }) => {
      return `${code(`${method} ${path}`)}, which no operation serves: sent ${times(requests)}`
    }),
    ...operations.flatMap(({ operation, items }) =>
      items.flatMap(({ kind, name, covered, injected, how }) => {
        const [label, never] =
          kind === 'operation' ? [operation, 'called'] : [`${name} of ${operation}`, 'met']
        const what = `${label}: ${injected > 0 ? 'met by a fault only' : `never ${never}`}`
        return covered ? [] : [hasHow ? `${what}; ${how.replaceAll('<', '&lt;')}` : what]
      })
    )
  ]
}

const times = (count: number) => (count === 1 ? 'once' : `${count} times`)

/** As code in Markdown. */
const code = (text: string) => `\`${printable(text).replaceAll('`', encodeURIComponent)}\``
