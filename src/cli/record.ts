import { setFlagsFromString } from 'node:v8'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { StartError } from '../domain/errors.js'
import type { NamedStep } from '../remote/recording/reading.js'
import { type Recording, type RecordOptions, record } from '../remote/recording/record.js'
import {
  addOptions,
  assumeOption,
  countOption,
  profileOption,
  repeatable,
  textOption
} from './options.js'
import { keyOption, rateOption, timeoutOption, urlOption } from './reach.js'
import { abortOnSignal, notWritten, printOutcome, progressLine } from './terminal.js'

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
    .description(
      'read the messages and steps of a running service, and write a seed that gives the same answers'
    )
  const step = 'read this step too, which no message names; may be repeated'
  const personal = 'write names, addresses and contents as they are, never credentials and keys'
  const texts = 'write names, subjects and bodies of workflows and steps as they are'
  addOptions(command, [
    urlOption('--from <url>', 'the service, up to the /v1 of its paths'),
    keyOption('--api-key <key>', 'a key of the environment to read; nothing is changed there'),
    textOption(
      '--out <file>',
      'write the seed to this file, .yaml or .json',
      ''
    ).makeOptionMandatory(),
    repeatable(
      '--workflow <id>',
      'read the steps of this workflow; may be repeated',
      [],
      'all that messages name'
    ),
    repeatable('--step <workflow/step>', step, [], 'none', stepOf),
    countOption('--messages <count>', 'read the newest so many', 100_000, 1).default(10_000),
    countOption('--page-size <count>', 'read so many messages at a time', 1000, 1).default(100),
    rateOption().default(10),
    timeoutOption().default(30),
    textOption('--name <name>', 'call the environment of the seed so', 'Recorded', 'Recorded'),
    new Option('--keep-personal-data', personal).default(false),
    new Option('--keep-workflow-texts', texts).default(false),
    profileOption('the profile of the seed', 'what is detected'),
    assumeOption(),
    new Option('--json', 'print the outcome as JSON')
  ]).action(run)
}

function stepOf(text: string): NamedStep {
  const [workflow, step, ...more] = text.split('/')
  if (workflow && step && more.length === 0) return { workflow, step }
  throw new InvalidArgumentError(
    'It must be a workflow and a step, such as order-shipped/email-step.'
  )
}

async function run(flags: RecordFlags, command: Command): Promise<void> {
  const { from, out, messages, timeout, workflow, step, assume, json } = flags
  if (!/\.(ya?ml|json)$/i.test(out)) command.error('error: --out must end in .yaml or .json')
  // What is read is kept until the end: beside it, what can be collected shall not take several times as much.
  setFlagsFromString('--heap-growing-percent=30')
  const signal = abortOnSignal()
  const show = progressLine()
  try {
    const recording = await record({
      ...flags,
      url: from,
      workflows: workflow,
      steps: step,
      maximum: messages,
      timeout: timeout * 1000,
      assumptions: assume,
      signal,
      onProgress: (count) => show.update(`${count.toLocaleString('en')} messages`),
      onRetry: show.retry
    })
    show.end()
    printOutcome(recording, json, outcomeText)
  } catch (error) {
    show.end()
    if (signal.aborted) throw new StartError('interrupted; nothing is written')
    notWritten(out)(error)
  }
}

function outcomeText({
  file,
  messages,
  subscribers,
  workflows,
  steps,
  profile,
  differences
}: Recording): string {
  const counts = `${messages} messages, ${subscribers} subscribers, ${workflows} workflows, ${steps} steps`
  return [
    `${file}: ${counts}; profile ${profile}`,
    'It gives the same answers, apart from:',
    ...differences.map((line) => `  - ${line}`),
    `To serve it: notification-mock --seed ${file}`,
    ''
  ].join('\n')
}
