import { type Command, Option } from 'commander'
import { assume, type Profile } from '../domain/assumptions.js'
import { countOf } from '../domain/count.js'
import { StartError } from '../domain/errors.js'
import { createMock } from '../index.js'
import { compareDocuments, readAssumptionFacts } from '../remote/comparison/compare-documents.js'
import { compareServices } from '../remote/comparison/compare-services.js'
import { readDocument, readRequestsToCompare } from '../remote/comparison/requests-to-compare.js'
import { LONG_PATIENCE } from '../remote/patient-requests.js'
import { Target, type TargetOptions } from '../remote/target.js'
import { documentText, servicesText } from './compare-text.js'
import {
  addOptions,
  assumeOption,
  profileOption,
  repeatable,
  textOption,
  withoutVariable
} from './options.js'
import { keyOption, rateOption, timeoutOption, urlOption } from './reach.js'
import { abortOnSignal, printOutcome, progressLine, UNCHECKED } from './terminal.js'

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
    .description("compare a service's responses or its OpenAPI document with the mock's")
    .addHelpText('after', EXIT_CODES)
  addOptions(command, [...serverOptions(), ...requestOptions(), ...outcomeOptions()]).action(run)
}

const EXIT_CODES = `
Exit codes:
  0  there are no differences, or assumptions explain all of them
  1  there are differences that no assumption explains, or a server or a file can't be read
  2  the command line is wrong
  3  nothing was compared, or an operation is missing from the document`

function serverOptions(): Option[] {
  return [
    urlOption('--target <url>', 'base URL of the service, without /v1', 'none'),
    keyOption('--api-key <key>', 'API key of the environment on the service', 'none'),
    textOption(
      '--document <file>',
      'compare this OpenAPI document (file or URL) instead of responses',
      'none'
    ),
    urlOption('--against <url>', 'the running notification-mock to compare with', 'none').conflicts(
      'seed'
    ),
    keyOption('--against-key <key>', 'API key for the --against server', 'none'),
    withoutVariable(
      repeatable(
        '--seed <file>',
        'compare with this seed, such as one from the record command; may be repeated',
        [],
        'none'
      )
    )
  ]
}

/** The flags that select the requests to send. */
function requestOptions(): Option[] {
  return [
    textOption(
      '--requests <file>',
      'send the requests in this file, one per line, such as GET /v1/messages?limit=5',
      'a default set'
    ),
    textOption('--har <file>', 'send the requests in this HAR file', 'none').conflicts([
      'requests',
      'journal'
    ]),
    withoutVariable(
      new Option('--journal', 'send the requests in the journal of the --against server').conflicts(
        ['requests', 'seed']
      )
    ),
    new Option('--allow-changes', 'also send set-primary, which changes the primary integration')
  ]
}

function outcomeOptions(): Option[] {
  return [
    new Option(
      '--replaced',
      "replace personal data in the target's responses, as the record command did for the seed; " +
        'requires the same --api-key'
    ),
    withoutVariable(profileOption('profile to use for the seed', 'the profile in the seed')),
    withoutVariable(assumeOption()),
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
      onProgress: (compared) => progress.update(`${compared} of ${countOf(count, 'request')}`)
    })
    progress.end()
    printOutcome(comparison, flags.json, servicesText, 2)
    setExitCode(comparison.differences, comparison.compared > 0)
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

async function runDocument(
  fileOrUrl: string,
  { profile = 'document', assume: overrides, timeout, json }: CompareFlags
): Promise<void> {
  const published = await readDocument(fileOrUrl, timeout * 1000, abortOnSignal())
  const { alternativeDocuments, openApiDocument } = await import('../openapi/documents.js')
  const assumptions = assume(profile, overrides)
  const ours = await openApiDocument(assumptions)
  const facts = readAssumptionFacts(ours, await alternativeDocuments(assumptions))
  const comparison = compareDocuments(published, ours, facts)
  printOutcome(comparison, json, documentText, 2)
  setExitCode(comparison.differences, comparison.missing.length === 0)
}

/**
 * Sets the exit code to 1 if there is a difference that no assumption explains. Otherwise, sets it
 * to 3 if something couldn't be compared.
 */
function setExitCode(differences: readonly { explainedBy?: string }[], isComplete: boolean): void {
  const isSame = differences.every(({ explainedBy }) => explainedBy !== undefined)
  if (!isSame) process.exitCode = 1
  else if (!isComplete) process.exitCode = UNCHECKED
}
