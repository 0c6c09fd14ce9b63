import { type Command, Option } from 'commander'
import { assume, type Profile } from '../domain/assumptions.js'
import { StartError } from '../domain/errors.js'
import { createMock } from '../index.js'
import { printable } from '../platform/printable.js'
import {
  compareDocuments,
  type DocumentDifference
} from '../remote/comparison/compare-documents.js'
import { compareServices, type ServiceComparison } from '../remote/comparison/compare-services.js'
import { readDocument, readRequestsToCompare } from '../remote/comparison/requests-to-compare.js'
import { LONG_PATIENCE } from '../remote/patient-requests.js'
import { Target, type TargetOptions } from '../remote/target.js'
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
    .description("compare a service's responses or OpenAPI document with this mock")
  addOptions(command, [...serverOptions(), ...requestOptions(), ...outcomeOptions()]).action(run)
}

function serverOptions(): Option[] {
  return [
    urlOption('--target <url>', 'base URL of the service, without /v1', 'none'),
    keyOption('--api-key <key>', 'API key of the environment on the service', 'none'),
    textOption('--document <file>', 'compare this OpenAPI document instead; file or URL', 'none'),
    urlOption('--against <url>', 'the running notification-mock to compare with', 'none').conflicts(
      'seed'
    ),
    keyOption('--against-key <key>', 'API key for the --against server', 'none'),
    repeatable(
      '--seed <file>',
      'compare with this seed, for example one that record wrote; may be repeated',
      [],
      'none'
    )
  ]
}

/** The flags that select the requests to send. */
function requestOptions(): Option[] {
  return [
    textOption(
      '--requests <file>',
      'send the requests of this file, one per line: GET /v1/messages?limit=5',
      'a default set'
    ),
    textOption('--har <file>', 'send the requests of this HAR file', 'none').conflicts([
      'requests',
      'journal'
    ]),
    new Option(
      '--journal',
      'send the requests that the running notification-mock has recorded'
    ).conflicts(['requests', 'seed']),
    new Option('--allow-changes', 'also send set-primary, which changes the primary integration')
  ]
}

function outcomeOptions(): Option[] {
  return [
    new Option(
      '--replaced',
      "the seed's personal data was replaced by record, using the same --api-key"
    ),
    profileOption('profile to use for the seed', 'the profile in the seed'),
    assumeOption(),
    rateOption().default(10),
    timeoutOption().default(30),
    new Option('--json', 'print the outcome as JSON')
  ]
}

async function run(flags: CompareFlags, command: Command): Promise<void> {
  const { target = '', apiKey = '', document, against, againstKey, seed } = flags
  if (document !== undefined) {
    if (target || against || seed.length > 0)
      command.error('error: --document cannot be combined with --target, --against or --seed')
    await runDocument(document, flags)
    return
  }
  if (target === '' || apiKey === '')
    command.error('error: --target and --api-key, or --document, are required')
  if (against === undefined && seed.length === 0)
    command.error('error: either --against or --seed is required')
  if (against !== undefined && againstKey === undefined)
    command.error('error: --against requires --against-key')
  await runServices({ url: target, apiKey }, flags)
}

async function runServices(
  target: Pick<TargetOptions, 'url' | 'apiKey'>,
  flags: CompareFlags
): Promise<void> {
  const signal = abortOnSignal()
  const progress = progressLine()
  const targetOptions = {
    rate: flags.rate,
    timeout: flags.timeout * 1000,
    patience: LONG_PATIENCE,
    signal,
    onRetry: progress.retry
  }
  const mock = flags.against === undefined ? await startMock(flags) : undefined
  try {
    const ours = new Target({
      ...targetOptions,
      rate: 10_000,
      url: mock?.url ?? flags.against ?? '',
      // Use the first environment in the seed.
      apiKey: mock?.environments[0]?.apiKeys[0] ?? flags.againstKey ?? ''
    })
    const requestsToCompare = await readRequestsToCompare(flags, ours)
    const count = requestsToCompare.requests.length
    const comparison = await compareServices({
      ...requestsToCompare,
      target: new Target({ ...targetOptions, ...target }),
      ours,
      replacementKey: flags.replaced && target.apiKey,
      onProgress: (compared) => progress.update(`${compared} of ${count} requests`)
    })
    progress.end()
    printServices(comparison, flags.json)
  } catch (error) {
    if (signal.aborted) throw new StartError('interrupted; the comparison is not complete')
    throw error
  } finally {
    progress.end()
    await mock?.close()
  }
}

function startMock({ seed, profile, assume: assumptions }: CompareFlags) {
  return createMock({ seeds: [...seed], profile, assumptions })
}

function printServices(comparison: ServiceComparison, json: true | undefined): void {
  const { compared, same, skipped, differences, ignored } = comparison
  const notSent = ' because they change data or are not requests to the service'
  const skippedText = skipped > 0 ? `; ${skipped} requests not sent${notSent}` : ''
  const head = [`${compared} requests compared, ${same} with the same response${skippedText}`]
  const linesOf = ({ method, path, field, target, ours }: (typeof differences)[number]) => {
    const where = field ? `${method} ${path}: ${field}` : `${method} ${path}`
    return [`${where}: target ${valueText(target)}, mock ${valueText(ours)}`]
  }
  const foot = `Not compared: ${ignored.join(', ')}`
  print(json ? comparison : undefined, { head, differences, linesOf, foot })
}

async function runDocument(
  fileOrUrl: string,
  { profile = 'document', assume: overrides, timeout, json }: CompareFlags
): Promise<void> {
  const published = await readDocument(fileOrUrl, timeout * 1000, abortOnSignal())
  const { openApiDocument } = await import('../openapi/documents.js')
  const comparison = compareDocuments(published, await openApiDocument(assume(profile, overrides)))
  const { compared, missing, differences } = comparison
  const head = [
    `${compared} operations compared`,
    ...missing.map((name) => `${name} is not in the published document`)
  ]
  print(json ? comparison : undefined, { head, differences, linesOf: documentLines, foot: '' })
}

function documentLines(difference: DocumentDifference): string[] {
  const { operation, part, kind, published, ours, publishedAt, oursAt } = difference
  const values = `: published ${valueText(published)}, mock ${valueText(ours)}`
  return [
    `${operation}: ${part}: ${kind}${published === undefined ? '' : values}`,
    `    published: ${publishedAt}`,
    `    mock: ${oursAt}`
  ]
}

interface PrintedComparison<Difference> {
  head: readonly string[]
  differences: readonly Difference[]
  linesOf(difference: Difference): string[]
  foot: string
}

/**
 * Prints `outcome` as JSON or, if it is undefined, the comparison as text. Sets the exit code to 1
 * if there is a difference that no assumption explains.
 */
function print<Difference extends { explainedBy?: string }>(
  outcome: object | undefined,
  comparison: PrintedComparison<Difference>
): void {
  const { head, differences, foot } = comparison
  const unexplained = differences.filter(({ explainedBy }) => explainedBy === undefined)
  const explained = differences.filter(({ explainedBy }) => explainedBy !== undefined)
  const lines = [
    ...head,
    ...sectionLines('no assumption explains', unexplained, comparison),
    ...sectionLines('an assumption explains', explained, comparison),
    '',
    foot
  ]
  const text = outcome
    ? JSON.stringify(outcome, null, 2)
    : lines.map((line) => printable(line)).join('\n')
  process.stdout.write(`${printable(text, '\t\n').trimEnd()}\n`)
  if (unexplained.length > 0) process.exitCode = 1
}

function sectionLines<Difference extends { explainedBy?: string }>(
  title: string,
  differences: readonly Difference[],
  { linesOf }: PrintedComparison<Difference>
): string[] {
  if (differences.length === 0) return []
  const lines = differences.flatMap((difference) => {
    const [first, ...others] = linesOf(difference)
    const assumption = difference.explainedBy ? ` (${difference.explainedBy})` : ''
    return [`  ${first}${assumption}`, ...others.map((line) => `  ${line}`)]
  })
  return ['', `${differences.length} differences that ${title}:`, ...lines]
}

function valueText(value: unknown): string {
  if (value === undefined) return 'nothing'
  const text = JSON.stringify(value)
  return text.length > 80 ? `${text.slice(0, 80)}…` : text
}
