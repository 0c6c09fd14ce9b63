import { type Command, InvalidArgumentError, Option } from 'commander'
import { StartError } from '../domain/errors.js'
import { reportJunit, reportText } from '../remote/conformance/report.js'
import {
  type ConformanceReport,
  isCase,
  type RunOptions,
  runConformance
} from '../remote/conformance/run.js'
import { addOptions, profileOption, repeatable, textOption } from './options.js'
import { keyOption, rateOption, timeoutOption, USUAL_URL, urlOption, usualServer } from './reach.js'
import { abortOnSignal, printOutcome, write } from './terminal.js'

/** The exit code when an operation could not be judged. */
const UNJUDGED = 3

interface Flags extends Pick<RunOptions, 'apiKey' | 'foreignIntegration' | 'profile' | 'rate'> {
  target?: string
  allowChanges?: true
  allowUnjudged?: true
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
    .description('judge any target, such as an account of the deployed service, by the contract')
    .addHelpText('after', EXPLANATION)
  const integration =
    'an integration to make primary, of each channel the present one first; may be repeated'
  const usual = `NOTIFICATION_MOCK_URL, else ${USUAL_URL}`
  addOptions(command, [
    urlOption('--target <url>', 'what to judge, up to the /v1 of its paths', usual),
    keyOption('--api-key <key>', 'a key of the environment to ask; never printed'),
    new Option(
      '--allow-changes',
      'also run what changes the primary integration and uses idempotency keys'
    ),
    new Option(
      '--allow-unjudged',
      'exit with 0 also if an operation that was asked for could not be judged'
    ),
    repeatable(
      '--workflow <id>',
      'a workflow to ask for; may be repeated',
      [],
      'those of the messages'
    ),
    repeatable(
      '--step <id>',
      'a step to ask for; may be repeated',
      [],
      'those with the usual ids, such as email-step'
    ),
    repeatable('--integration <id>', integration, [], 'those that the target lists'),
    textOption(
      '--foreign-integration <id>',
      'an integration of another environment of the organization',
      'none'
    ),
    repeatable(
      '--case <id>',
      'run this case, or those below it; may be repeated',
      undefined,
      'all',
      caseOf
    ),
    profileOption(
      'fail what differs from this profile, where the contract is silent too',
      'it is noted'
    ),
    rateOption().default(undefined, 'no limit'),
    timeoutOption().default(10),
    new Option('--json', 'print the report as JSON'),
    new Option('--verbose', 'list what passed and what was skipped too').conflicts('json'),
    textOption('--junit <file>', 'write the report as JUnit XML too', 'none')
  ]).action(judge)
}

function caseOf(text: string): string {
  if (isCase(text)) return text
  throw new InvalidArgumentError(`There is no case ${text}; docs/conformance-cases.md lists them.`)
}

const EXPLANATION = `
Without --allow-changes it only reads. With it, set-primary is asked for the integrations that are named: they become active and
lose their conditions. At the end the former primary is put back: that of GET /v1/integrations, or the first one named.

Exit codes: 0 no case failed; 1 some did, or the target can't be reached or answers no more; 2 the command line is wrong;
3 no case failed, but an operation that was asked for could not be judged: the summary says why.

Example:
  $ NOTIFICATION_MOCK_API_KEY=… notification-mock conformance --target https://api.example.com --workflow welcome`

async function judge(flags: Flags): Promise<void> {
  const {
    target,
    workflow,
    step,
    integration,
    timeout,
    allowChanges = false,
    allowUnjudged,
    ...others
  } = flags
  const signal = abortOnSignal()
  const report = await runConformance({
    ...others,
    url: target ?? usualServer(),
    allowChanges,
    workflows: workflow,
    steps: step,
    integrations: integration,
    only: flags.case,
    timeout: timeout * 1000,
    signal
  })
  // Before the files: one that can't be written must not take the report with it.
  printOutcome(report, flags.json, (shown) => reportText(shown, flags.verbose), 2)
  if (flags.junit) write(flags.junit, reportJunit(report))
  const problem = problemOf(report, signal)
  if (problem) throw new StartError(problem)
  if (!allowUnjudged && report.operations.some(({ judged }) => judged === 'no'))
    process.exitCode = UNJUDGED
}

function problemOf(report: ConformanceReport, signal: AbortSignal): string | undefined {
  const { cases, counts, notRestored, ended } = report
  if (signal.aborted) return 'interrupted: not all cases were run'
  if (ended) return 'not all cases were run: the target answers no more'
  if (cases.length === 0) return 'the case is judged with --profile document only'
  if (counts.failed > 0) return `${counts.failed} of ${cases.length} cases failed`
  return notRestored.length > 0
    ? 'not all former primary integrations could be put back'
    : undefined
}
