import { writeFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { StartError } from '../core/errors.js'
import { writeToStderr } from '../core/stderr.js'
import type { Mock, MockEnvironment } from '../index.js'
import { SeedError } from '../seeds/errors.js'
import { type Child, type Ending, endLike, NotRunnable, startChild } from './child.js'
import { coverageMarkdown, coverageShortfall, coverageText, fetchCoverage, minOption } from './coverage.js'
import { addOptions, repeatable } from './options.js'
import { printReload } from './serve.js'
import {
  grouped,
  type ServerFlags,
  type ServerStart,
  serverOptions,
  serverStart,
  stderrLogger
} from './server-options.js'
import { GRACE, LAST_RESORT, onStopSignal, stopWithParent } from './signals.js'

/** The exit code when the server is at fault, as of `env`, `nohup` and `timeout`. */
const FAILED = 125

/** Before each line of ours, to tell it from the command's. */
export const EXEC_PREFIX = 'notification-mock exec: '

interface ExecFlags extends ServerFlags {
  env: readonly Variable[]
  coverage?: true
  min?: number
  coverageJson: string
  coverageMarkdown: string
}

/** A variable for the command, and what of the server it is set to. */
interface Variable {
  name: string
  value: (mock: Mock) => string
}

export function addExec(program: Command): void {
  const command = program
    .command('exec')
    .usage('[options] -- <command> [args...]')
    .description('start a server, run a command against it, stop the server, and end as the command did')
    .argument('<command...>', 'what to run, with its arguments')
    .passThroughOptions()
    .addHelpText('after', EXPLANATION)
  addOptions(command, [...execOptions(), ...serverOptions({ port: 0, logLevel: 'warn' })]).action(exec)
}

function execOptions(): readonly Option[] {
  return grouped('What the command gets, and what is reported:', [
    envOption(),
    new Option('--coverage', 'print how much of the contract the command has met, on stderr, when it has ended'),
    minOption('--min <percent>'),
    // An empty name counts as none: there is no summary of a job outside of one.
    new Option('--coverage-json <file>', 'write the same as JSON to this file').default('', 'none'),
    new Option(
      '--coverage-markdown <file>',
      'append the same in Markdown to this file, such as a summary of a job'
    ).default('', 'none')
  ])
}

const EXPLANATION = `
The command gets these variables: NOTIFICATION_MOCK_URL, NOTIFICATION_MOCK_API_KEY (the first key of the first
environment), and NOTIFICATION_MOCK_ADMIN_TOKEN if there is one.

Exit codes: that of the command, or its signal. 125 the server could not be started, or failed meanwhile; 126 the command
can't be executed; 127 there is no such command; 2 the command line is wrong; 1 the command was done, but the coverage is
below --min. What is ours is told on stderr, in a line that begins with "notification-mock exec:".

Examples:
  $ notification-mock exec -- npm test
  $ notification-mock exec --seed shop.yaml --env API_URL=url --env API_TOKEN=key -- npx vitest run
  $ notification-mock exec --min 80 --coverage-markdown "$GITHUB_STEP_SUMMARY" -- npm test
  $ notification-mock exec --env BASE=url/v1 --env PROD_KEY=key:Production -- sh -c 'curl -s $BASE/messages -H "Authorization: ApiKey $PROD_KEY"'`

function envOption(): Option {
  const description = 'set another variable for the command: to url, url/<path>, key or key:<environment>'
  return repeatable(new Option('--env <name=value>', description).default([], 'none'), variableOf)
}

function variableOf(text: string): Variable {
  const [, name, what, of = ''] = /^([A-Za-z_]\w*)=(url(?=\/|$)|key(?=:|$))(.*)$/s.exec(text) ?? []
  if (name === undefined) {
    throw new InvalidArgumentError('It must be a name, =, and url, url/<path>, key or key:<environment>.')
  }
  if (what === 'url') return { name, value: ({ url }) => url + of }
  return { name, value: ({ environments }) => keyOf(environments, of === '' ? undefined : of.slice(1)) }
}

function keyOf(environments: readonly MockEnvironment[], name: string | undefined): string {
  const found = environments.filter((each) => name === undefined || each.name === name)
  const [key] = found.flatMap(({ apiKeys }) => apiKeys)
  if (key !== undefined) return key
  const names = environments.map((each) => each.name).join(', ')
  if (names === '') throw new StartError('there is no key to pass on, as there is no environment; give a --seed')
  if (found.length === 0)
    throw new StartError(`there is no environment ${name} to pass on the key of; there are ${names}`)
  throw new StartError(`the key of ${found[0]?.name} can't be passed on: it is not in the seeds given`)
}

async function exec(words: string[], flags: ExecFlags, command: Command): Promise<void> {
  const start = serverStart(flags, command)
  try {
    await endLike(await run(words, flags, start))
  } catch (error) {
    print(messageOf(error))
    process.exitCode = error instanceof NotRunnable ? error.exitCode : FAILED
  }
  // A server whose closing hangs would keep the process from its end.
  setTimeout(() => process.exit(), GRACE).unref()
}

async function run(words: string[], flags: ExecFlags, start: ServerStart): Promise<Ending> {
  const { failed, stopped, passTo } = watchProcess()
  const starting = startServer(flags, start)
  const mock = await Promise.race([starting, stopped, failed])
  if (typeof mock === 'string') {
    // A start that takes longer is ended with the process, as if that were killed.
    const started = await Promise.race([starting.catch(() => undefined), delay(GRACE)])
    await started?.close(GRACE)
    return { code: null, signal: mock }
  }
  try {
    const child = startChild(words, environmentOf(mock, flags, start))
    passTo(child)
    let hasFailed = false
    failed.catch((error) => {
      hasFailed = true
      print(`the server has failed, so the command is asked to end: ${messageOf(error)}`)
      child.stop()
    })
    const ending = await child.ended
    await child.endRest()
    return hasFailed ? { code: FAILED, signal: null } : await reportCoverage(mock, flags, start, ending)
  } finally {
    await Promise.race([mock.close(GRACE), delay(LAST_RESORT, undefined, { ref: false })])
  }
}

/** Reports on the coverage, if it was asked for. Returns how to end: one below the minimum makes a success a failure. */
async function reportCoverage(mock: Mock, flags: ExecFlags, { options }: ServerStart, ending: Ending): Promise<Ending> {
  const { coverage: isPrinted = flags.min !== undefined, min, coverageJson: jsonFile, coverageMarkdown: file } = flags
  if (!isPrinted && jsonFile === '' && file === '') return ending
  const isDone = ending.code === 0
  try {
    const coverage = await fetchCoverage(mock.url, { adminToken: options.adminToken })
    if (isPrinted) writeToStderr(coverageText(coverage))
    if (jsonFile !== '') writeReport(jsonFile, `${JSON.stringify(coverage, null, 2)}\n`, 'w')
    if (file !== '') writeReport(file, coverageMarkdown(coverage), 'a')
    const shortfall = coverageShortfall(coverage, min)
    if (shortfall === undefined || !isDone) return ending
    print(shortfall)
    return { code: 1, signal: null }
  } catch (error) {
    if (isDone) throw error
    print(messageOf(error))
    return ending
  }
}

function writeReport(file: string, text: string, flag: 'w' | 'a'): void {
  try {
    writeFileSync(file, text, { flag })
  } catch (error) {
    throw new StartError(`can't write the coverage to ${file}: ${(error as NodeJS.ErrnoException).code}`)
  }
}

/** Gives signals to the child, once there is one, and errors that nobody caught. */
function watchProcess() {
  let child: Child | undefined
  const failed = new Promise<never>((_, reject) => process.on('uncaughtException', reject))
  failed.catch(() => {})
  const stopped = new Promise<NodeJS.Signals>((settle) => {
    const pass = (signal: NodeJS.Signals) => (child ? child.pass(signal) : settle(signal))
    onStopSignal(pass)
    for (const signal of OTHER_SIGNALS) process.on(signal, pass)
    stopWithParent(() => pass('SIGTERM'))
  })
  const passTo = (started: Child) => {
    child = started
  }
  return { failed, stopped, passTo }
}

const OTHER_SIGNALS = ['SIGQUIT', 'SIGUSR2'] as const

async function startServer({ logLevel, watch }: ExecFlags, { options }: ServerStart): Promise<Mock> {
  // In a later turn, so that signals are handled from here on: loading, opening and seeding block the event loop.
  const { createMock } = await import('./work.js')
  const logger = await stderrLogger(logLevel)
  return createMock({ ...options, logger, watch: watch && ((reload) => printReload(reload, false, writeToStderr)) })
}

function environmentOf(mock: Mock, { env }: ExecFlags, { options }: ServerStart): NodeJS.ProcessEnv {
  const [key] = mock.environments.flatMap(({ apiKeys }) => apiKeys)
  return {
    ...process.env,
    NOTIFICATION_MOCK_URL: mock.url,
    // Undefined ones are left out, also if we have them.
    NOTIFICATION_MOCK_API_KEY: key,
    NOTIFICATION_MOCK_ADMIN_TOKEN: options.adminToken,
    ...Object.fromEntries(env.map(({ name, value }) => [name, value(mock)]))
  }
}

function messageOf(error: unknown): string {
  if (error instanceof SeedError || error instanceof StartError) return error.message
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}

function print(message: string): void {
  writeToStderr(message.replaceAll(/^/gm, EXEC_PREFIX).concat('\n'))
}
