import { type Command, InvalidArgumentError, Option } from 'commander'
import { StartError } from '../domain/errors.js'
import { requireWritable } from '../platform/output-file.js'
import { reportJunit, reportText } from '../remote/conformance/report.js'
import {
  type ConformanceReport,
  isCase,
  type RunOptions,
  runConformance
} from '../remote/conformance/run.js'
import { addOptions, profileOption, repeatable, textOption, withoutVariable } from './options.js'
import {
  DEFAULT_URL,
  defaultServer,
  keyOption,
  rateOption,
  timeoutOption,
  urlOption
} from './reach.js'
import { abortOnSignal, printOutcome, UNCHECKED, write } from './terminal.js'

interface Flags extends Pick<RunOptions, 'apiKey' | 'foreignIntegration' | 'profile' | 'rate'> {
  target?: string
  allowChanges?: true
  allowUnchecked?: true
  workflow: string[]
  step: string[]
  integration: string[]
  case?: string[]
  timeout: number
  json?: true
  verbose?: true
  junit?: string
}

export function addCommands(root: Command): void {
  const command = root
    .command('conformance')
    .helpGroup('Test against it:')
    .description('check any server, such as Novu itself, against the API reference')
    .addHelpText('after', EXPLANATION)
  addOptions(command, [...serverOptions(), ...recordOptions(), ...runOptions()]).action(run)
}

function serverOptions(): Option[] {
  const defaultUrl = `NOTIFICATION_MOCK_URL, else ${DEFAULT_URL}`
  return [
    urlOption('--target <url>', 'base URL of the server to check, without /v1', defaultUrl),
    keyOption('--api-key <key>', 'API key of the environment to use; never printed')
  ]
}

/** The flags for the target's records: which to use, and whether to change them. */
function recordOptions(): Option[] {
  return [
    new Option(
      '--allow-changes',
      'also run the cases that change the primary integration or send idempotency keys'
    ),
    repeatable(
      '--workflow <id>',
      'use this workflow on the target; may be repeated',
      [],
      "the workflows in the target's messages"
    ),
    repeatable(
      '--step <id>',
      'use this step on the target; may be repeated',
      [],
      'steps with default ids, such as email-step'
    ),
    repeatable(
      '--integration <id>',
      "integration to make primary; list each channel's current primary first; may be repeated",
      [],
      'the integrations that the target lists'
    ),
    textOption(
      '--foreign-integration <id>',
      'integration in another environment of the same organization',
      'none'
    )
  ]
}

function runOptions(): Option[] {
  return [
    new Option(
      '--allow-unchecked',
      'exit with 0 even if all selected cases of an operation were skipped'
    ),
    repeatable(
      '--case <id>',
      'run the case with this id, or all cases whose ids start with it; may be repeated',
      undefined,
      'all cases',
      parseCase
    ),
    withoutVariable(
      profileOption(
        'also fail if the target differs from this profile',
        'differences are only reported'
      )
    ),
    rateOption().default(undefined, 'no limit'),
    timeoutOption().default(10),
    new Option('--json', 'print the report as JSON'),
    new Option('--verbose', 'also list the passed and skipped cases').conflicts('json'),
    textOption('--junit <file>', 'also write the report as JUnit XML', 'none')
  ]
}

function parseCase(id: string): string {
  if (isCase(id)) return id
  throw new InvalidArgumentError(`There is no case ${id}; docs/conformance-cases.md lists them.`)
}

const EXPLANATION = `
Without --allow-changes, the run changes nothing on the target. With it, the run makes integrations
primary, which also activates them and removes their conditions. At the end, the run makes each
channel's former primary integration primary again. If the target can't list its integrations,
the channel's first --integration counts as the former primary.

Exit codes:
  0  no case failed
  1  a case failed or didn't run, or a former primary integration wasn't restored
  2  the command line is wrong
  3  no case failed, but all selected cases of an operation were skipped; the summary says why

Example:
  $ NOTIFICATION_MOCK_API_KEY=… notification-mock conformance \\
      --target https://api.example.com --workflow welcome`

async function run(flags: Flags): Promise<void> {
  const { target, workflow, step, integration, timeout, allowChanges = false } = flags
  const { apiKey, foreignIntegration, profile, rate } = flags
  if (flags.junit) requireWritable(flags.junit)
  const signal = abortOnSignal()
  const report = await runConformance({
    apiKey,
    foreignIntegration,
    profile,
    rate,
    url: target ?? defaultServer(),
    allowChanges,
    workflows: workflow,
    steps: step,
    integrations: integration,
    only: flags.case,
    timeout: timeout * 1000,
    signal
  })
  // Print before writing the file, so that the report isn't lost if writing fails.
  printOutcome(report, flags.json, (printed) => reportText(printed, flags.verbose), 2)
  if (flags.junit) write(flags.junit, reportJunit(report))
  const problem = problemOf(report, signal)
  if (problem) throw new StartError(problem)
  const isUnchecked = report.operations.some(({ checked }) => checked === 'no')
  if (isUnchecked && !flags.allowUnchecked) process.exitCode = UNCHECKED
}

function problemOf(report: ConformanceReport, signal: AbortSignal): string | undefined {
  const { cases, counts, notRestored, ended } = report
  if (signal.aborted) return 'interrupted before all cases ran'
  if (ended) return 'the target stopped responding before all cases ran'
  if (cases.length === 0) return 'the selected cases only run with --profile document'
  if (counts.failed > 0) return `${counts.failed} of ${cases.length} cases failed`
  return notRestored.length > 0 ? 'not all former primary integrations were restored' : undefined
}
