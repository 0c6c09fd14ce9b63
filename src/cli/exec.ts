import { resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { HINT_IDS, type HintId } from '../client/hints.js'
import type { Mock, MockOptions } from '../index.js'
import { printable } from '../platform/printable.js'
import { writeToStderr } from '../platform/stderr.js'
import { CommandProcess, type Ending, endLike } from './child-process.js'
import { minOption } from './coverage.js'
import { checkOutputs, maskCommand, print, type ReportFlags, writeReports } from './exec-report.js'
import {
  addOptions,
  addServerOptions,
  mockOptions,
  repeatable,
  type ServerFlags
} from './options.js'
import { ignoredSeeds, plainLogger, startMock } from './serve.js'
import { GRACE, LAST_RESORT, messageOf, onStopSignal } from './terminal.js'

// These exit codes have the same meaning as in `env`, `nohup` and `timeout`.
const SERVER_FAILED = 125
const NOT_EXECUTABLE = 126
const NOT_FOUND = 127

interface ExecFlags extends ServerFlags, ReportFlags {
  env: readonly VariableSetting[]
}

export function addCommands(root: Command): void {
  const command = root
    .command('exec')
    .helpGroup('Test against it:')
    .usage('[options] -- <command> [args...]')
    .description(
      "start a mock server, run a command against it, and exit with the command's exit code"
    )
    .argument('<command...>', 'the command to run, with its arguments')
    .passThroughOptions()
    .addHelpText('after', EXPLANATION)
  addOptions(command.optionsGroup('Command and reports:'), reportOptions())
  addServerOptions(command, 0, 'warn').action(exec)
}

function reportOptions(): Option[] {
  const env =
    "set a variable for the command: <name>=url for the server's URL, <name>=url/<path> for a " +
    'URL with a path, or <name>=key for the first API key; may be repeated'
  const summary = 'append a Markdown summary to this file: failures, hints and coverage'
  const state = 'the tests that `notification-mock open` can reopen from the report'
  const strict = 'fail on hints about likely mistakes, such as an unknown parameter'
  const allow = `hint that --strict should ignore; may be repeated; one of ${HINT_IDS.join(', ')}`
  const failOn = 'turn on --strict and also fail on this hint; only needed for page-not-requested'
  return [
    repeatable('--env <name=value>', env, [], 'none', parseVariable),
    new Option('--coverage', 'print to stderr how much of the API the command covered'),
    minOption().implies({ coverage: true }),
    // Accept an empty name and write no file, because `--summary "$GITHUB_STEP_SUMMARY"` passes an
    // empty name outside of CI.
    new Option('--coverage-json <file>', 'write the coverage to this file, as JSON').default(
      '',
      'none'
    ),
    new Option('--report <file>', 'write an HTML report of all tests to this file').default(
      '',
      'none'
    ),
    new Option('--report-state <tests>', state).choices(['failed', 'all', 'off']).default('failed'),
    new Option('--summary <file>', summary).default('', 'none'),
    new Option('--strict', strict),
    repeatable('--allow <hint>', allow, [], 'none', parseHint),
    repeatable('--fail-on <hint>', failOn, [], 'none', parseHint).implies({ strict: true })
  ]
}

const EXPLANATION = `
The command gets these variables: NOTIFICATION_MOCK_URL, NOTIFICATION_MOCK_API_KEY (the first key
of the first environment), NOTIFICATION_MOCK_REPORT with --report, and
NOTIFICATION_MOCK_ADMIN_TOKEN if there is a token. NO_PROXY also lists the server's host and the
loopback addresses.

If a signal ends the command, exec is ended by the same signal. Otherwise, it exits with the
command's exit code or one of these:
  1    the command succeeded, but the check for --min or --strict failed or couldn't run
  2    the command line is wrong
  125  the server failed, or a file can't be written (checked before the command runs)
  126  the command can't be executed
  127  the command doesn't exist

Messages from exec go to stderr and start with "notification-mock exec:".

Example:
  notification-mock exec --seed shop.yaml --env API_URL=url/v1 --env API_KEY=key -- npx vitest run`

/**
 * An environment variable for the command. Its value is an API key, or the server's URL followed by
 * a path.
 */
type VariableSetting = { name: string } & ({ kind: 'key' } | { kind: 'url'; path: string })

function parseVariable(argument: string): VariableSetting {
  const [, name, path] = /^([A-Za-z_]\w*)=(?:url(|\/.*)|key)$/s.exec(argument) ?? []
  if (name === undefined) {
    throw new InvalidArgumentError('It must be <name>=url, <name>=url/<path> or <name>=key.')
  }
  return path === undefined ? { name, kind: 'key' } : { name, kind: 'url', path }
}

function parseHint(argument: string): HintId {
  if (HINT_IDS.includes(argument as HintId)) return argument as HintId
  throw new InvalidArgumentError(`It must be one of ${HINT_IDS.join(', ')}.`)
}

async function exec(words: string[], flags: ExecFlags, command: Command): Promise<void> {
  const options = mockOptions(flags, command)
  try {
    await endLike(await run(words, flags, options))
  } catch (error) {
    process.exitCode = reportError(error, words[0])
  }
  // End the process even if the server doesn't close.
  setTimeout(() => process.exit(), GRACE).unref()
}

/** Prints why the run failed, and returns the exit code. */
function reportError(error: unknown, name: string | undefined): number {
  const { syscall, code = '' } = error as NodeJS.ErrnoException
  if (!syscall?.startsWith('spawn')) {
    print(messageOf(error))
    return SERVER_FAILED
  }
  print(`can't run ${name}: ${SPAWN_ERRORS[code] ?? code}`)
  return code === 'ENOENT' ? NOT_FOUND : NOT_EXECUTABLE
}

const SPAWN_ERRORS: Record<string, string> = {
  ENOENT: 'the command, or the interpreter in its first line, does not exist',
  EACCES: 'it is not executable; check its permissions'
}

/**
 * Starts the server and runs the command. Before the server is ready, a signal ends this process.
 * Afterwards, signals are forwarded to the command.
 */
async function run(words: string[], flags: ExecFlags, options: MockOptions): Promise<Ending> {
  checkOutputs(flags)
  const { mock } = await startMock(options, flags, writeToStderr, plainLogger)
  const warning = ignoredSeeds(mock, flags)
  if (warning) print(printable(warning))
  try {
    return await runAgainst(mock, words, flags, options)
  } finally {
    await Promise.race([mock.close(GRACE), delay(LAST_RESORT, undefined, { ref: false })])
  }
}

async function runAgainst(
  mock: Mock,
  words: string[],
  flags: ExecFlags,
  options: MockOptions
): Promise<Ending> {
  // Listen for signals first, because the command may run before `new CommandProcess` returns.
  const forward = (signal: NodeJS.Signals) => child.forward(signal)
  onStopSignal(forward)
  process.on('SIGQUIT', forward)
  const child = new CommandProcess(words, commandEnv(mock, flags, options))
  let hasServerFailed = false
  process.on('uncaughtException', (error) => {
    hasServerFailed = true
    print(`the server failed, so the command is stopped: ${messageOf(error)}`)
    child.send('SIGTERM')
  })
  const ending = await child.ended
  await child.endLeftovers()
  if (hasServerFailed) return { code: SERVER_FAILED, signal: null }
  return reportRun(mock, flags, ending, maskCommand(words, secretsOf(mock, options)))
}

/**
 * Returns the command's environment variables. A variable with an undefined value isn't passed to
 * the command, even if this process has that variable.
 */
function commandEnv(mock: Mock, flags: ExecFlags, options: MockOptions): NodeJS.ProcessEnv {
  const [key] = keysOf(mock)
  const custom = flags.env.map((variable) => [
    variable.name,
    variable.kind === 'key' ? key : mock.url + variable.path
  ])
  const noProxy = withoutProxyFor(new URL(mock.url).hostname)
  return {
    ...process.env,
    NO_PROXY: noProxy,
    no_proxy: noProxy,
    NOTIFICATION_MOCK_URL: mock.url,
    NOTIFICATION_MOCK_API_KEY: key,
    NOTIFICATION_MOCK_ADMIN_TOKEN: options.adminToken,
    // An absolute path, because the command may run in another folder.
    NOTIFICATION_MOCK_REPORT: flags.report === '' ? undefined : resolve(flags.report),
    ...Object.fromEntries(custom)
  }
}

/** The loopback addresses, in all forms that programs recognize in `NO_PROXY`. */
const LOOPBACK = ['localhost', '127.0.0.1', '::1', '[::1]']

/** Returns a `NO_PROXY` list of the user's hosts, the loopback addresses and `host`. */
function withoutProxyFor(host: string): string {
  const { no_proxy: lower, NO_PROXY: upper } = process.env
  const hosts = [lower, upper].flatMap((list) => list?.split(',') ?? [])
  const trimmed = hosts.map((name) => name.trim()).filter(Boolean)
  if (trimmed.includes('*')) return '*'
  return [...new Set([...trimmed, ...LOOPBACK, host])].join(',')
}

const keysOf = ({ environments }: Mock) => environments.flatMap(({ apiKeys }) => apiKeys)

/**
 * Returns the secrets to mask in reports: the API keys, the admin token and the fallback key. Omits
 * short secrets, because they may occur in ordinary words.
 */
const secretsOf = (mock: Mock, { adminToken = '', fallbackKey = '' }: MockOptions) =>
  [...keysOf(mock), adminToken, fallbackKey].filter(({ length }) => length > 7)

/**
 * Reports on the run. Returns how to end this process: like the command, or with a failure if the
 * command succeeded but a check failed.
 */
async function reportRun(
  mock: Mock,
  flags: ExecFlags,
  ending: Ending,
  command: string
): Promise<Ending> {
  const hasSucceeded = ending.code === 0
  try {
    const facts = { command, ...(ending.code !== null && { exitCode: ending.code }) }
    const failures = await writeReports(mock, flags, facts)
    if (!hasSucceeded || failures.length === 0) return ending
    for (const failure of failures) print(failure)
    return { code: 1, signal: null }
  } catch (error) {
    print(messageOf(error))
    return hasSucceeded ? { code: SERVER_FAILED, signal: null } : ending
  }
}
