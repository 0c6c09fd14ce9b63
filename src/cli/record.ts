import { setFlagsFromString } from 'node:v8'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { StartError } from '../domain/errors.js'
import { rethrowWriteError } from '../platform/output-file.js'
import type { NamedStep } from '../remote/recording/read-steps.js'
import {
  type Recording,
  type RecordOptions,
  recordService
} from '../remote/recording/record-service.js'
import {
  addOptions,
  assumeOption,
  countOption,
  profileOption,
  repeatable,
  textOption,
  withoutVariable
} from './options.js'
import { keyOption, rateOption, timeoutOption, urlOption } from './reach.js'
import { abortOnSignal, formatCounts, printOutcome, progressLine } from './terminal.js'

interface RecordFlags
  extends Omit<RecordOptions, 'url' | 'workflows' | 'steps' | 'maximum' | 'assumptions'> {
  from: string
  workflow: readonly string[]
  step: readonly NamedStep[]
  messages: number
  timeout: number
  assume: Record<string, string>
  json?: true
}

export function addCommands(root: Command): void {
  const command = root
    .command('record')
    .helpGroup('Against the real service:')
    .description('read the messages and steps of a running service and write them as a seed')
  addOptions(command, [...readOptions(), ...seedOptions()]).action(run)
}

/** The flags that select what to read. */
function readOptions(): Option[] {
  return [
    urlOption('--from <url>', 'base URL of the service, without /v1'),
    keyOption(
      '--api-key <key>',
      'API key of the environment to read; the environment is not changed'
    ),
    withoutVariable(
      repeatable(
        '--workflow <id>',
        'read the steps of this workflow; may be repeated',
        [],
        'all workflows with messages'
      )
    ),
    withoutVariable(
      repeatable(
        '--step <workflow/step>',
        'also read this step, even if no message belongs to it; may be repeated',
        [],
        'none',
        parseStep
      )
    ),
    countOption(
      '--messages <count>',
      'how many of the newest messages to read',
      100_000,
      1
    ).default(10_000),
    countOption('--page-size <count>', 'how many messages to read at a time', 1000, 1).default(100),
    rateOption().default(10),
    timeoutOption().default(30)
  ]
}

/** The flags for the seed to write. */
function seedOptions(): Option[] {
  return [
    textOption('--out <file>', 'the seed to write, .yaml or .json', '').makeOptionMandatory(),
    textOption('--name <name>', 'the name of the environment in the seed', 'Recorded', 'Recorded'),
    new Option(
      '--keep-personal-data',
      'keep names, addresses and contents; credentials and keys are still replaced'
    ).default(false),
    new Option(
      '--keep-workflow-texts',
      'keep names, subjects and bodies of workflows and steps'
    ).default(false),
    withoutVariable(profileOption('profile to write to the seed', 'the detected profile')),
    withoutVariable(assumeOption()),
    new Option('--json', 'print the outcome as JSON')
  ]
}

function parseStep(value: string): NamedStep {
  const [workflow, step, ...rest] = value.split('/')
  if (workflow && step && rest.length === 0) return { workflow, step }
  throw new InvalidArgumentError(
    'It must be a workflow and a step, such as order-shipped/email-step.'
  )
}

async function run(flags: RecordFlags, command: Command): Promise<void> {
  const { from, out, messages, timeout, workflow, step, assume, json } = flags
  if (!/\.(ya?ml|json)$/i.test(out)) command.error('error: --out must end in .yaml or .json')
  // All records stay in memory. Without this V8 flag, the heap would grow to several times the size
  // of the records before V8 collects garbage.
  setFlagsFromString('--heap-growing-percent=30')
  const signal = abortOnSignal()
  const progress = progressLine()
  try {
    const recording = await recordService({
      ...flags,
      url: from,
      workflows: workflow,
      steps: step,
      maximum: messages,
      timeout: timeout * 1000,
      assumptions: assume,
      signal,
      onProgress: (count) => progress.update(`${count.toLocaleString('en')} messages`),
      onRetry: progress.retry
    })
    progress.end()
    printOutcome(recording, json, outcomeText)
  } catch (error) {
    progress.end()
    if (signal.aborted) throw new StartError('interrupted; nothing was written')
    rethrowWriteError(out)(error)
  }
}

function outcomeText(recording: Recording): string {
  const { file, messages, subscribers, workflows, steps, profile, differences } = recording
  const records = formatCounts({ messages, subscribers, workflows, steps })
  return [
    `${file}: ${records}; profile ${profile}`,
    'A server with this seed returns the same responses, except:',
    ...differences.map((difference) => `  - ${difference}`),
    `To serve it: notification-mock --seed ${file}`,
    ''
  ].join('\n')
}
