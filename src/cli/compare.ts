import { type Command, Option } from 'commander'
import { PROFILES, type Profile } from '../core/assumptions.js'
import { StartError } from '../core/errors.js'
import type { Comparison } from '../targets/recording/compare.js'
import type { Target, TargetOptions } from '../targets/target.js'
import { addOptions, assumeOption, notEmpty, repeatable, textOption } from './options.js'
import { progressLine } from './record.js'
import { onStopSignal } from './signals.js'
import { keyOption, rateOption, timeoutOption, urlOption } from './target-options.js'

interface CompareFlags {
  target: string
  apiKey: string
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

export function addCompare(root: Command): void {
  const command = root
    .command('compare')
    .description('ask a running service and ours the same questions, and report what differs')
  addOptions(command, [
    urlOption('--target <url>', 'the service, up to the /v1 of its paths'),
    keyOption('--api-key <key>', 'a key of its environment'),
    urlOption('--against <url>', 'a running notification-mock to compare it with')
      .makeOptionMandatory(false)
      .default(undefined, 'none'),
    keyOption('--against-key <key>', 'a key of the environment there')
      .makeOptionMandatory(false)
      .default(undefined, 'none'),
    repeatable(
      new Option('--seed <file>', 'compare it with this seed, such as record wrote; may be repeated').default(
        [],
        'none'
      ),
      notEmpty
    ),
    textOption(
      '--requests <file>',
      'ask what stands in this file, a line each: GET /v1/messages?limit=5',
      'usual ones'
    ),
    textOption('--har <file>', 'ask the requests of this HAR', 'none'),
    new Option('--journal', 'ask the requests that the running notification-mock has recorded'),
    new Option('--replaced', 'the seed was recorded with this key, and without --keep-personal-data'),
    new Option('--allow-changes', 'ask set-primary too, which changes the primary integration'),
    new Option('--profile <name>', 'the profile of the seed').choices(PROFILES).default(undefined, 'that of the seed'),
    assumeOption(),
    rateOption().default(10),
    timeoutOption().default(30),
    new Option('--json', 'print the outcome as JSON')
  ]).action(run)
}

async function run(flags: CompareFlags, command: Command): Promise<void> {
  const { target: url, apiKey, against, againstKey, seed, requests, har, journal, json } = flags
  if ((against === undefined) === (seed.length === 0)) command.error('error: give either --against or --seed')
  if (against !== undefined && againstKey === undefined) command.error('error: --against needs --against-key')
  if ([requests, har, journal].filter((each) => each !== undefined).length > 1) {
    command.error('error: give one of --requests, --har and --journal')
  }
  if (journal && against === undefined) command.error('error: --journal needs --against, which has recorded requests')
  const { compareAnswers, createTarget, LONG_PATIENCE } = await import('./work.js')
  const stop = new AbortController()
  onStopSignal(() => stop.abort())
  const show = progressLine()
  const calls: Omit<TargetOptions, 'url' | 'apiKey'> = {
    rate: flags.rate,
    timeout: flags.timeout * 1000,
    patience: LONG_PATIENCE,
    signal: stop.signal,
    onRetry: (reason, wait) => show.tell(`${reason}; once more in ${(wait / 1000).toFixed(1)} s`)
  }
  const own = against === undefined ? await startOwn(flags) : undefined
  try {
    const ours = createTarget({
      ...calls,
      rate: 10_000,
      url: own?.url ?? against ?? '',
      apiKey: own?.apiKey ?? againstKey ?? ''
    })
    const asked = await questionsOf(flags, ours)
    const comparison = await compareAnswers({
      ...asked,
      target: createTarget({ ...calls, url, apiKey }),
      ours,
      replacedBy: flags.replaced && apiKey,
      onProgress: (count) => show.update(`${count} of ${asked.questions.length} questions`)
    })
    show.end()
    process.stdout.write(json ? `${JSON.stringify(comparison)}\n` : comparisonText(comparison))
    if (comparison.differences.some(({ explainedBy }) => explainedBy === undefined)) process.exitCode = 1
  } catch (error) {
    throw stop.signal.aborted ? new StartError('interrupted; nothing was compared to the end') : error
  } finally {
    show.end()
    await own?.close()
  }
}

async function questionsOf({ requests, har, journal, ...flags }: CompareFlags, ours: Target) {
  const allowChanges = flags.allowChanges ?? false
  const { questionsOfFile, questionsOfHar, questionsOfJournal, usualQuestions } = await import('./work.js')
  if (requests !== undefined) return questionsOfFile(requests, allowChanges)
  if (har !== undefined) return questionsOfHar(har, allowChanges)
  return journal ? questionsOfJournal(ours, allowChanges) : usualQuestions(ours)
}

/** A server of our own with the seed, and a key of its first environment. */
async function startOwn({ seed, profile, assume }: CompareFlags) {
  const { createMock } = await import('./work.js')
  const mock = await createMock({ seeds: [...seed], ...(profile && { profile }), assumptions: assume })
  const [environment] = mock.environments
  return { url: mock.url, apiKey: environment?.apiKeys[0] ?? '', close: () => mock.close() }
}

const MAX_VALUE = 80

function comparisonText({ asked, skipped, same, differences, leftOut }: Comparison): string {
  const unexplained = differences.filter(({ explainedBy }) => explainedBy === undefined)
  const explained = differences.filter(({ explainedBy }) => explainedBy !== undefined)
  const left = skipped > 0 ? `, ${skipped} not asked: they change something, or are none of the service` : ''
  return [
    `${asked} questions, ${same} answered the same${left}`,
    ...(unexplained.length > 0 ? ['', `${unexplained.length} differences that nothing explains:`] : []),
    ...unexplained.map(lineOf),
    ...(explained.length > 0 ? ['', `${explained.length} differences that an assumption explains:`] : []),
    ...explained.map((each) => `${lineOf(each)} (${each.explainedBy})`),
    '',
    `Not compared: ${leftOut.join(', ')}`,
    ''
  ].join('\n')
}

function lineOf({ method, path, field, target, ours }: Comparison['differences'][number]): string {
  const what = field === '' ? '' : ` ${field}:`
  return `  ${method} ${path}:${what} ${valueText(target)} there, ${valueText(ours)} here`
}

function valueText(value: unknown): string {
  if (value === undefined) return 'nothing'
  const text = JSON.stringify(value)
  return text.length > MAX_VALUE ? `${text.slice(0, MAX_VALUE)}…` : text
}
