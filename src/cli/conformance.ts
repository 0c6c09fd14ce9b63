import { writeFileSync } from 'node:fs'
import { type Command, CommanderError, InvalidArgumentError, Option } from 'commander'
import { PROFILES, type Profile } from '../core/assumptions.js'
import { StartError } from '../core/errors.js'
import { TIERS, type Tier } from '../targets/conformance/case.js'
import type { ConformanceReport } from '../targets/conformance/run.js'
import { USUAL_URL, usualServer } from './health.js'
import { addOptions, countOption, repeatable, textOption } from './options.js'
import { onStopSignal } from './signals.js'
import { keyOption, rateOption, timeoutOption, urlOption } from './target-options.js'

interface Flags {
  target?: string
  apiKey: string
  allowChanges?: true
  workflow: string[]
  step: string[]
  integration: string[]
  foreignIntegration?: string
  tier?: Tier[]
  case?: string[]
  profile?: Profile
  rate?: number
  timeout: number
  order?: number
  json?: true
  verbose?: true
  junit?: string
  markdown?: string
}

export function addConformance(program: Command): void {
  const command = program
    .command('conformance')
    .description('judge any target, such as an account of the deployed service, by the contract')
    .addHelpText('after', EXPLANATION)
  addOptions(command, [
    urlOption('--target <url>', 'what to judge, up to the /v1 of its paths')
      .makeOptionMandatory(false)
      .default(undefined, `NOTIFICATION_MOCK_URL, else ${USUAL_URL}`),
    keyOption('--api-key <key>', 'a key of the environment to ask; never printed'),
    new Option('--allow-changes', 'also run what changes the primary integration and uses idempotency keys'),
    named('--workflow <id>', 'a workflow to ask for', 'those of the messages'),
    named('--step <id>', 'a step to ask for', 'those with the usual ids, such as email-step'),
    named(
      '--integration <id>',
      'an integration to make primary; of each channel the present primary first',
      'those that the target lists'
    ),
    textOption('--foreign-integration <id>', 'an integration of another environment of the organization', 'none'),
    tierOption(),
    listOf('--case <id>', 'run this case, or those below it, such as filter; may be repeated', 'all'),
    new Option('--profile <name>', 'fail what is in the position of the other profile')
      .choices(PROFILES)
      .default(undefined, 'either passes'),
    rateOption().default(undefined, 'no limit'),
    timeoutOption().default(10),
    countOption(
      '--order <number>',
      'run the cases in another order, the same for the same number',
      4_294_967_295
    ).default(undefined, 'as listed'),
    new Option('--json', 'print the report as JSON'),
    new Option('--verbose', 'list what passed and what was skipped too').conflicts('json'),
    textOption('--junit <file>', 'write the report as JUnit XML too', 'none'),
    textOption('--markdown <file>', 'write the report in Markdown too', 'none')
  ]).action(judge)
}

const EXPLANATION = `
Without --allow-changes it only reads. With it, set-primary is asked for the integrations that are named: they become active and
lose their conditions, and at the end the former primary is put back: that which the target lists under GET /v1/integrations,
or else the first one named of each channel.

Exit codes: 0 all cases passed, or were skipped for a reason; 1 some failed, or there is nothing to judge; 2 the command line
is wrong.

Examples:
  $ NOTIFICATION_MOCK_API_KEY=… notification-mock conformance --target https://api.example.com --workflow welcome
  $ notification-mock conformance --api-key development-key --allow-changes --integration sendgrid-main --integration mailgun-eu`

async function judge(flags: Flags): Promise<void> {
  const { target, workflow, step, integration, tier, timeout, apiKey, order, profile, rate } = flags
  const { runConformance, unknownCase } = await import('../targets/conformance/run.js')
  const { reportJunit, reportMarkdown, reportText } = await import('../targets/conformance/report.js')
  const unknown = unknownCase(flags.case ?? [])
  if (unknown !== undefined) {
    const message = `error: there is no case ${unknown}; docs/conformance.md lists them`
    throw new CommanderError(2, 'notification-mock.case', message)
  }
  const interrupt = interruptOnSignal()
  const report = await runConformance({
    url: target ?? usualServer(),
    apiKey,
    allowChanges: flags.allowChanges ?? false,
    workflows: workflow,
    steps: step,
    integrations: integration,
    foreignIntegration: flags.foreignIntegration,
    tiers: tier,
    only: flags.case,
    profile,
    rate,
    order,
    timeout: timeout * 1000,
    signal: interrupt
  })
  // Before the files: one that can't be written must not take the report with it.
  process.stdout.write(flags.json ? `${JSON.stringify(report, null, 2)}\n` : reportText(report, flags.verbose))
  if (flags.junit) write(flags.junit, reportJunit(report))
  if (flags.markdown) write(flags.markdown, reportMarkdown(report))
  const problem = problemOf(report, interrupt)
  if (problem) throw new StartError(problem)
}

/** In milliseconds: npm passes on what the terminal has sent to us too, so that one Ctrl-C comes twice. */
const SAME_SIGNAL = 500

/** Returns a signal that a first SIGINT, SIGTERM or SIGHUP aborts. A second one ends the process at once, with code 1. */
function interruptOnSignal(): AbortSignal {
  const interrupt = new AbortController()
  let at = 0
  onStopSignal(() => {
    if (!interrupt.signal.aborted) {
      at = performance.now()
      interrupt.abort()
    } else if (performance.now() - at > SAME_SIGNAL) {
      process.stderr.write('error: ended at once: primary integrations may not have been put back\n')
      process.exit(1)
    }
  })
  return interrupt.signal
}

function problemOf({ cases, counts, notRestored }: ConformanceReport, signal: AbortSignal): string | undefined {
  if (signal.aborted) return 'interrupted: not all cases were run'
  if (cases.length === 0) return 'no case of that tier has that id; docs/conformance.md lists them'
  if (counts.failed > 0) return `${counts.failed} of ${cases.length} cases failed`
  return notRestored.length > 0 ? 'not all former primary integrations could be put back' : undefined
}

function write(file: string, text: string): void {
  try {
    writeFileSync(file, text)
  } catch (error) {
    throw new StartError(`can't write ${file}: ${(error as Error).message}`)
  }
}

/** A flag for names that may be given several times. */
function named(flags: string, description: string, unset: string): Option {
  return repeatable(new Option(flags, `${description}; may be repeated`).default([], unset), (text) => text)
}

function listOf(flags: string, description: string, unset: string): Option {
  return repeatable(new Option(flags, description).default(undefined, unset), (text) => text)
}

function tierOption(): Option {
  const description = `run the cases of this tier, one of ${TIERS.join(', ')}; may be repeated`
  return repeatable(new Option('--tier <name>', description).default(undefined, 'all'), (text) => {
    const tier = TIERS.find((each) => each === text)
    if (tier) return tier
    throw new InvalidArgumentError(`It must be one of ${TIERS.join(', ')}.`)
  })
}
