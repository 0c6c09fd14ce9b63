import { type Command, InvalidArgumentError, Option } from 'commander'
import { PROFILES, type Profile } from '../core/assumptions.js'
import { StartError } from '../core/errors.js'
import type { NamedStep } from '../targets/recording/read-steps.js'
import type { Recording } from '../targets/recording/record.js'
import { addOptions, assumeOption, countOption, notEmpty, repeatable, textOption } from './options.js'
import { onStopSignal } from './signals.js'
import { keyOption, rateOption, timeoutOption, urlOption } from './target-options.js'

interface RecordFlags {
  from: string
  apiKey: string
  out: string
  workflow: readonly string[]
  step: readonly NamedStep[]
  messages: number
  pageSize: number
  rate: number
  timeout: number
  name: string
  keepPersonalData?: true
  keepWorkflowTexts?: true
  profile?: Profile
  assume: Record<string, string>
  json?: true
}

export function addRecord(root: Command): void {
  const command = root
    .command('record')
    .description('read the messages and steps of a running service, and write a seed that gives the same answers')
  addOptions(command, [
    urlOption('--from <url>', 'the service, up to the /v1 of its paths'),
    keyOption('--api-key <key>', 'a key of the environment to read; nothing is changed there'),
    textOption('--out <file>', 'write the seed to this file, .yaml or .json', '').makeOptionMandatory(),
    repeatable(
      new Option('--workflow <id>', 'read the steps of this workflow; may be repeated').default(
        [],
        'all that messages name'
      ),
      notEmpty
    ),
    repeatable(
      new Option('--step <workflow/step>', 'read this step too, which no message names; may be repeated').default(
        [],
        'none'
      ),
      stepOf
    ),
    countOption('--messages <count>', 'read the newest so many', 10_000_000, 1).default(10_000_000, 'all'),
    countOption('--page-size <count>', 'read so many messages at a time', 1000, 1).default(100),
    rateOption().default(10),
    timeoutOption().default(30),
    textOption('--name <name>', 'call the environment of the seed so', 'Recorded', 'Recorded'),
    new Option('--keep-personal-data', 'write names, addresses and contents as they are; credentials and keys never'),
    new Option('--keep-workflow-texts', 'write names, subjects and bodies of workflows and steps as they are'),
    new Option('--profile <name>', 'the profile of the seed').choices(PROFILES).default(undefined, 'what is detected'),
    assumeOption(),
    new Option('--json', 'print the outcome as JSON')
  ]).action(run)
}

function stepOf(text: string): NamedStep {
  const [workflow, step, ...more] = text.split('/')
  if (workflow && step && more.length === 0) return { workflow, step }
  throw new InvalidArgumentError('It must be a workflow and a step, such as order-shipped/email-step.')
}

async function run(flags: RecordFlags, command: Command): Promise<void> {
  const { from, out, messages, timeout, workflow, step, assume, json } = flags
  if (!/\.(ya?ml|json)$/i.test(out)) command.error('error: --out must end in .yaml or .json')
  const { record } = await import('./work.js')
  const stop = new AbortController()
  onStopSignal(() => stop.abort())
  const show = progressLine()
  try {
    const recording = await record({
      ...flags,
      url: from,
      workflows: workflow,
      steps: step,
      maximum: messages,
      timeout: timeout * 1000,
      keepPersonalData: flags.keepPersonalData ?? false,
      keepWorkflowTexts: flags.keepWorkflowTexts ?? false,
      assumptions: assume,
      signal: stop.signal,
      onProgress: (count) => show.update(`${count.toLocaleString('en')} messages`),
      onRetry: (reason, wait) => show.tell(`${reason}; once more in ${(wait / 1000).toFixed(1)} s`)
    })
    show.end()
    process.stdout.write(json ? `${JSON.stringify(recording)}\n` : outcomeText(recording))
  } catch (error) {
    show.end()
    if (!stop.signal.aborted) throw error
    throw new StartError(`interrupted; the same command goes on from there, ${out}.progress holds what was read`)
  }
}

function outcomeText({ files, messages, subscribers, workflows, steps, profile, differences }: Recording): string {
  const counts = `${messages} messages, ${subscribers} subscribers, ${workflows} workflows, ${steps} steps`
  const seeds = files.map((file) => `--seed ${file}`).join(' ')
  return [
    `${files.join(', ')}: ${counts}; profile ${profile}`,
    'It gives the same answers, apart from:',
    ...differences.map((line) => (line.startsWith('  ') ? `  ${line}` : `  - ${line}`)),
    `To serve it: notification-mock ${seeds}`,
    ''
  ].join('\n')
}

/** In milliseconds: how often a pipe is told. */
const INTERVAL = 5000

/** Shows on stderr how far it is: in one line of a terminal, and in a line now and then of a pipe. */
export function progressLine() {
  let shown = performance.now()
  const write = (text: string) => void process.stderr.write(text)
  return {
    update(text: string): void {
      if (process.stderr.isTTY) write(`\r${text}\x1b[K`)
      else if (performance.now() - shown >= INTERVAL) {
        shown = performance.now()
        write(`${text}\n`)
      }
    },
    tell: (text: string) => write(process.stderr.isTTY ? `\r${text}\x1b[K\n` : `${text}\n`),
    end(): void {
      if (process.stderr.isTTY) write('\r\x1b[K')
    }
  }
}
