import { type Command, Option } from 'commander'
import { assume, type Profile } from '../domain/assumptions.js'
import { StartError } from '../domain/errors.js'
import { createMock } from '../index.js'
import { printable } from '../platform/printable.js'
import { LONG_PATIENCE } from '../remote/recording/asking.js'
import { compareAnswers } from '../remote/recording/compare.js'
import { compareDocuments } from '../remote/recording/document.js'
import { readDocument, readQuestions } from '../remote/recording/questions.js'
import { createTarget } from '../remote/target.js'
import { addOptions, assumeOption, profileOption, repeatable, textOption } from './options.js'
import { keyOption, rateOption, timeoutOption, urlOption } from './reach.js'
import { abortOnSignal, progressLine } from './terminal.js'

interface CompareFlags {
  target?: string
  apiKey?: string
  document?: string
  against?: string
  againstKey?: string
  seed: readonly string[]
  requests?: string
  har?: string
  journal?: true
  replaced?: true
  allowChanges?: true
  profile?: Profile
  assume: Record<string, string>
  rate: number
  timeout: number
  json?: true
}

export function addCommands(root: Command): void {
  const command = root
    .command('compare')
    .helpGroup('Against the real service:')
    .description(
      'ask a running service and ours the same questions, or compare its document, and report what differs'
    )
  const askedElse = ['requests', 'seed']
  addOptions(command, [
    urlOption('--target <url>', 'the service, up to the /v1 of its paths', 'none'),
    keyOption('--api-key <key>', 'a key of its environment', 'none'),
    textOption(
      '--document <file>',
      'compare an OpenAPI document instead, a file or an address',
      'none'
    ),
    urlOption(
      '--against <url>',
      'a running notification-mock to compare it with',
      'none'
    ).conflicts('seed'),
    keyOption('--against-key <key>', 'a key of the environment there', 'none'),
    repeatable(
      '--seed <file>',
      'compare it with this seed, such as record wrote; may be repeated',
      [],
      'none'
    ),
    textOption(
      '--requests <file>',
      'ask what this file has, a line each: GET /v1/messages?limit=5',
      'usual ones'
    ),
    textOption('--har <file>', 'ask the requests of this HAR', 'none').conflicts([
      'requests',
      'journal'
    ]),
    new Option(
      '--journal',
      'ask the requests that the running notification-mock has recorded'
    ).conflicts(askedElse),
    new Option(
      '--replaced',
      'the seed was recorded with this key, and without --keep-personal-data'
    ),
    new Option('--allow-changes', 'ask set-primary too, which changes the primary integration'),
    profileOption('the profile of the seed', 'that of the seed'),
    assumeOption(),
    rateOption().default(10),
    timeoutOption().default(30),
    new Option('--json', 'print the outcome as JSON')
  ]).action(run)
}

async function run(flags: CompareFlags, command: Command): Promise<void> {
  const { target: url = '', apiKey = '', document, against, againstKey, seed, rate, json } = flags
  if (document !== undefined && (url || against || seed.length > 0))
    command.error('error: --document stands alone')
  if (document !== undefined) return runDocument(document, flags)
  if (url === '' || apiKey === '')
    command.error('error: give --target and --api-key, or --document')
  if (against === undefined && seed.length === 0)
    command.error('error: give either --against or --seed')
  if (against !== undefined && againstKey === undefined)
    command.error('error: --against needs --against-key')
  const signal = abortOnSignal()
  const show = progressLine()
  const calls = {
    rate,
    timeout: flags.timeout * 1000,
    patience: LONG_PATIENCE,
    signal,
    onRetry: show.retry
  }
  const options = { seeds: [...seed], profile: flags.profile, assumptions: flags.assume }
  const own = against === undefined ? await createMock(options) : undefined
  try {
    // A server of our own is asked in its first environment.
    const ourKey = own ? own.environments[0]?.apiKeys[0] : againstKey
    const ours = createTarget({
      ...calls,
      rate: 10_000,
      url: own?.url ?? against ?? '',
      apiKey: ourKey ?? ''
    })
    const asked = await readQuestions(flags, ours)
    const comparison = await compareAnswers({
      ...asked,
      target: createTarget({ ...calls, url, apiKey }),
      ours,
      replacedBy: flags.replaced && apiKey,
      onProgress: (count) => show.update(`${count} of ${asked.questions.length} questions`)
    })
    show.end()
    const { skipped, same, leftOut, differences } = comparison
    const left =
      skipped > 0 ? `, ${skipped} not asked: they change something, or are none of the service` : ''
    const head = [`${comparison.asked} questions, ${same} answered the same${left}`]
    const linesOf = ({ method, path, field, target, ours }: (typeof differences)[number]) => [
      `${method} ${path}:${field && ` ${field}:`} ${valueText(target)} there, ${valueText(ours)} here`
    ]
    print(json && comparison, head, differences, linesOf, `Not compared: ${leftOut.join(', ')}`)
  } catch (error) {
    throw signal.aborted ? new StartError('interrupted; nothing was compared to the end') : error
  } finally {
    show.end()
    await own?.close()
  }
}

async function runDocument(
  place: string,
  { profile = 'document', assume: overrides, timeout, json }: CompareFlags
) {
  const published = await readDocument(place, timeout * 1000, abortOnSignal())
  const { openApiDocument } = await import('../openapi/documents.js')
  const comparison = compareDocuments(published, await openApiDocument(assume(profile, overrides)))
  const { compared, missing, differences } = comparison
  const head = [
    `${compared} operations compared`,
    ...missing.map((name) => `${name} is not in the document`)
  ]
  const linesOf = ({
    operation,
    what,
    kind,
    there,
    here,
    thereAt,
    hereAt
  }: (typeof differences)[number]) => {
    const values = there === undefined ? '' : `: ${valueText(there)} there, ${valueText(here)} here`
    return [`${operation}: ${what}: ${kind}${values}`, `    ${thereAt} there`, `    ${hereAt} here`]
  }
  print(json && comparison, head, differences, linesOf)
}

/** Prints an outcome, as JSON if it is given or in lines, and sets exit code 1 if there are differences that nothing explains. */
function print<Difference extends { explainedBy?: string }>(
  outcome: object | undefined,
  head: readonly string[],
  differences: readonly Difference[],
  linesOf: (difference: Difference) => string[],
  foot = ''
): void {
  const part = (title: string, isExplained: boolean) => {
    const own = differences.filter(({ explainedBy }) => (explainedBy !== undefined) === isExplained)
    const rowOf = ({ explainedBy }: Difference) => (explainedBy ? ` (${explainedBy})` : '')
    const lines = own.flatMap((each) =>
      linesOf(each).map((line, at) => `  ${line}${at === 0 ? rowOf(each) : ''}`)
    )
    return own.length > 0 ? ['', `${own.length} differences that ${title}:`, ...lines] : []
  }
  const bare = part('nothing explains', false)
  const lines = [...head, ...bare, ...part('an assumption explains', true), '', foot]
  const text = outcome
    ? JSON.stringify(outcome, null, 2)
    : lines.map((line) => printable(line)).join('\n')
  process.stdout.write(`${printable(text, '\t\n').trimEnd()}\n`)
  if (bare.length > 0) process.exitCode = 1
}

function valueText(value: unknown): string {
  if (value === undefined) return 'nothing'
  const text = JSON.stringify(value)
  return text.length > 80 ? `${text.slice(0, 80)}…` : text
}
