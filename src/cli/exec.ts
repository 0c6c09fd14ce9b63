import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:os'
import { resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type Command, InvalidArgumentError, Option } from 'commander'
import spawn from 'cross-spawn'
import { HINT_IDS, type HintId } from '../client/hints.js'
import { type Report, reportOf } from '../client/report.js'
import { SECRET_NAME } from '../domain/credentials.js'
import { attempt } from '../domain/errors.js'
import type { Mock, MockOptions } from '../index.js'
import { printable } from '../platform/printable.js'
import { writeToStderr } from '../platform/stderr.js'
import { coverageMarkdown, coverageShortfall, coverageText, minOption } from './coverage.js'
import {
  addOptions,
  addServerOptions,
  mockOptions,
  repeatable,
  type ServerFlags
} from './options.js'
import { ignoredSeeds, startMock } from './serve.js'
import {
  EXEC_PREFIX,
  GRACE,
  LAST_RESORT,
  messageOf,
  notWritten,
  onStopSignal,
  write
} from './terminal.js'

/** Exit codes as of `env`, `nohup` and `timeout`; the first is for when the server is at fault. */
const [FAILED, NOT_EXECUTABLE, NOT_FOUND] = [125, 126, 127]

interface ExecFlags extends ServerFlags {
  env: readonly ReturnType<typeof variableOf>[]
  coverage?: true
  min?: number
  coverageJson: string
  report: string
  summary: string
  strict?: true
  allow: readonly HintId[]
}

export function addCommands(root: Command): void {
  const command = root
    .command('exec')
    .helpGroup('Test against it:')
    .usage('[options] -- <command> [args...]')
    .description(
      'start a server, run a command against it, stop the server, and end as the command did'
    )
    .argument('<command...>', 'what to run, with its arguments')
    .passThroughOptions()
    .addHelpText('after', EXPLANATION)
  const env =
    'set another variable for the command: to url, url/<path>, or key, that of the first environment'
  const coverage =
    'print how much of the contract the command has met, on stderr, when it has ended'
  const summary =
    'append failures, hints and the coverage in Markdown to this file, such as a summary of a job'
  addOptions(command.optionsGroup('What the command gets, and what is reported:'), [
    repeatable('--env <name=value>', env, [], 'none', variableOf),
    new Option('--coverage', coverage),
    minOption().implies({ coverage: true }),
    // An empty name counts as none: there is no summary of a job outside of one.
    new Option('--coverage-json <file>', 'write the same as JSON to this file').default('', 'none'),
    new Option(
      '--report <file>',
      'write what all tests have sent, got and left as one HTML file'
    ).default('', 'none'),
    new Option('--summary <file>', summary).default('', 'none'),
    new Option(
      '--strict',
      'fail if the requests give hints of mistakes, such as a parameter that is not read'
    ),
    repeatable(
      '--allow <hint>',
      `a hint that --strict lets pass: ${HINT_IDS.join(', ')}`,
      [],
      'none',
      hintOf
    )
  ])
  addServerOptions(command, 0, 'warn').action(exec)
}

const EXPLANATION = `
The command gets these variables: NOTIFICATION_MOCK_URL, NOTIFICATION_MOCK_API_KEY (the first key of the first
environment), NOTIFICATION_MOCK_REPORT with --report, and NOTIFICATION_MOCK_ADMIN_TOKEN if there is one.

Exit codes: that of the command, or its signal. 125 the server could not be started, or failed meanwhile; 126 the command
can't be executed; 127 there is no such command; 2 the command line is wrong; 1 the command was done, but the coverage is
below --min, or --strict has found something. What is ours is told on stderr, in a line that begins with "notification-mock exec:".

Example: notification-mock exec --seed shop.yaml --env API_URL=url/v1 --env API_TOKEN=key -- npx vitest run`

/** A variable for the command, and what of the server it is set to: its URL with a path, or else a key. */
function variableOf(text: string) {
  const [, name, url] = /^([A-Za-z_]\w*)=(?:url(|\/.*)|key)$/s.exec(text) ?? []
  if (name === undefined)
    throw new InvalidArgumentError('It must be a name, =, and url, url/<path> or key.')
  return { name, path: url }
}

function hintOf(text: string): HintId {
  if (HINT_IDS.includes(text as HintId)) return text as HintId
  throw new InvalidArgumentError(`It must be one of ${HINT_IDS.join(', ')}.`)
}

async function exec(words: string[], flags: ExecFlags, command: Command): Promise<void> {
  const options = mockOptions(flags, command)
  try {
    await endLike(await run(words, flags, options))
  } catch (error) {
    const { syscall, code = '' } = error as NodeJS.ErrnoException
    const isNotRun = syscall?.startsWith('spawn')
    print(isNotRun ? `can't run ${words[0]}: ${REASONS[code] ?? code}` : messageOf(error))
    process.exitCode = isNotRun ? (code === 'ENOENT' ? NOT_FOUND : NOT_EXECUTABLE) : FAILED
  }
  // A server whose closing hangs would keep the process from its end.
  setTimeout(() => process.exit(), GRACE).unref()
}

const REASONS: Record<string, string> = {
  ENOENT: 'there is no such command, or not the interpreter that its first line names',
  EACCES: 'it is not executable; check the permissions'
}

/** Until the server is ready, a signal ends the process at once. Then the command gets it. */
async function run(words: string[], flags: ExecFlags, options: MockOptions): Promise<Ending> {
  const { mock } = await startMock(options, flags, writeToStderr)
  const warning = ignoredSeeds(mock, flags)
  if (warning) print(printable(warning))
  const keys = mock.environments.flatMap(({ apiKeys }) => apiKeys)
  try {
    // First, as the command may run, and be seen to run, before `spawn` returns.
    const pass = (signal: NodeJS.Signals) => child.pass(signal)
    onStopSignal(pass)
    process.on('SIGQUIT', pass)
    const child = startChild(words, {
      ...process.env,
      NOTIFICATION_MOCK_URL: mock.url,
      // Undefined ones are left out, also if we have them.
      NOTIFICATION_MOCK_API_KEY: keys[0],
      NOTIFICATION_MOCK_ADMIN_TOKEN: options.adminToken,
      // Whatever folder it runs in.
      NOTIFICATION_MOCK_REPORT: flags.report === '' ? undefined : resolve(flags.report),
      ...Object.fromEntries(
        flags.env.map(({ name, path }) => [name, path === undefined ? keys[0] : mock.url + path])
      )
    })
    let hasFailed = false
    process.on('uncaughtException', (error) => {
      hasFailed = true
      print(`the server has failed, so the command is asked to end: ${messageOf(error)}`)
      child.send('SIGTERM')
    })
    const ending = await child.ended
    await child.endRest()
    if (hasFailed) return { code: FAILED, signal: null }
    const secrets = [...keys, options.adminToken ?? ''].filter(({ length }) => length > 7)
    return await reportOn(mock, flags, ending, shownCommand(words, secrets))
  } finally {
    await Promise.race([mock.close(GRACE), delay(LAST_RESORT, undefined, { ref: false })])
  }
}

/** Reports on the run, as it was asked for. Returns how to end: what falls short makes a success a failure. */
async function reportOn(
  mock: Mock,
  flags: ExecFlags,
  ending: Ending,
  command: string
): Promise<Ending> {
  const { coverage: isPrinted, min, coverageJson, report: file, summary, strict, allow } = flags
  const shortfalls: (string | undefined)[] = []
  try {
    if (isPrinted || coverageJson !== '') {
      const coverage = await mock.coverage()
      if (isPrinted)
        writeToStderr(coverageText(coverage, '--summary and --coverage-json write all'))
      if (coverageJson !== '') write(coverageJson, `${JSON.stringify(coverage, null, 2)}\n`)
      shortfalls.push(coverageShortfall(coverage, min))
    }
    const facts = { command, ...(ending.code !== null && { exitCode: ending.code }) }
    const written = file === '' ? undefined : await mock.report(file, facts).catch(notWritten(file))
    if (written) print(`the report is in ${file}`)
    if (summary !== '' || strict) {
      const report = written ?? reportOf(await mock.runRecord(), facts)
      if (summary !== '') write(summary, runMarkdown(report, allow), 'a')
      const hints = strict ? hintsIn(report, allow) : []
      const lines = hints.map(
        ({ id, message, where }) => `\n${printable(`${where}: ${message} (${id})`)}`
      )
      if (hints.length > 0)
        shortfalls.push(`--strict: the requests give hints of mistakes${lines.join('')}`)
    }
  } catch (error) {
    print(messageOf(error))
    return ending.code === 0 ? { code: FAILED, signal: null } : ending
  }
  const told = shortfalls.filter((each) => each !== undefined)
  if (ending.code !== 0 || told.length === 0) return ending
  for (const each of told) print(each)
  return { code: 1, signal: null }
}

/** Returns the hints of all tests, and those about other requests, but for the allowed ones. */
function hintsIn({ tests, hints }: Report, allowed: readonly HintId[]) {
  const found = [
    ...tests.flatMap((test) => test.hints.map((hint) => ({ ...hint, where: test.title }))),
    ...hints.map(({ environment = 'without a valid key', ...hint }) => ({
      ...hint,
      where: environment
    }))
  ]
  return found.filter(({ id }) => !allowed.includes(id))
}

/** Returns a summary of a run in Markdown, such as GitHub shows of a job: failures, hints, and the coverage. */
function runMarkdown(report: Report, allowed: readonly HintId[]): string {
  const { tests, dropped } = report
  const failed = tests.filter(({ outcome }) => outcome === 'failed')
  const counts = `${failed.length} of ${tests.length + dropped} failed`
  const lines = [
    ...failed.map(({ title, error = '', unauthenticated }) => {
      const { reason } = unauthenticated.at(-1) ?? {}
      const requests =
        unauthenticated.length === 1 ? 'a request' : `${unauthenticated.length} requests`
      const why = [
        error.trim().split('\n')[0],
        reason && `${requests} came without a valid key: ${reason}`
      ]
      return `failed: ${title}: ${why.filter(Boolean).join('; ')}`
    }),
    ...hintsIn(report, allowed).map(({ message, where }) => `hint: ${where}: ${message}`),
    ...(dropped > 0 ? [`${dropped} tests are not listed: their records have been dropped`] : [])
  ]
  const title = tests.length > 0 ? counts : 'none has an environment of its own'
  const items = lines.map((line) => {
    // Text stays text in Markdown.
    const text = printable(line).slice(0, 500)
    return `- ${text.replace(/[\\|`*_[\]<>&]/g, (sign) => `&#${sign.charCodeAt(0)};`)}\n`
  })
  return `## Tests against notification-mock: ${title}\n\n${items.join('')}\n${coverageMarkdown(report.coverage)}`
}

/** Returns a command line without what it gives as secrets. */
function shownCommand(words: readonly string[], secrets: readonly string[]): string {
  const shown = words.map((word, index) => {
    const [, name = '', value] = /^([\w-]+)=(.*)$/s.exec(word) ?? []
    const before = /^--?([\w-]+)$/.exec(words[index - 1] ?? '')?.[1] ?? ''
    if (value !== undefined && SECRET_NAME.test(name.replace(/^-+/, ''))) return `${name}=***`
    return SECRET_NAME.test(before) || secrets.some((secret) => word.includes(secret))
      ? '***'
      : word
  })
  return shown.join(' ')
}

const print = (message: string) =>
  writeToStderr(message.replaceAll(/^/gm, EXEC_PREFIX).concat('\n'))

/** How a process ended: by itself with a code, or by a signal. */
type Ending = { code: number | null; signal: NodeJS.Signals | null }

const IS_WINDOWS = process.platform === 'win32'
/** How long what a command left behind may take to end before it is killed, in milliseconds. */
const REST_GRACE = 500

/**
 * Starts a command. Without a terminal it gets a process group of its own, so that signals reach what it starts too: npm
 * and shells do not pass them on. At a terminal it stays in ours, as only that group may read from it.
 */
function startChild(words: readonly string[], env: NodeJS.ProcessEnv) {
  const [name = '', ...args] = words
  const hasGroup = !IS_WINDOWS && !process.stdin.isTTY
  // First, so that a command that runs is guarded at once.
  const guard = IS_WINDOWS ? undefined : startGuard()
  const child = spawn(name, args, { env, stdio: 'inherit', detached: hasGroup })
  const { pid } = child
  if (pid === undefined) guard?.kill('SIGKILL')
  else guard?.stdin?.write(`${hasGroup ? -pid : pid}\n`)
  const ended = once(child, 'exit').then(([code, signal]): Ending => {
    guard?.kill('SIGKILL')
    return { code, signal }
  })

  /** Returns whether there was anybody to send it to. */
  function send(signal: NodeJS.Signals): boolean {
    if (pid === undefined) return false
    return hasGroup ? (attempt(() => process.kill(-pid, signal)) ?? false) : child.kill(signal)
  }
  return {
    /** Rejects with the error of the system if the command could not be started. Some errors are thrown before. */
    ended,
    send,
    /** Passes on a signal that this process got. */
    pass(signal: NodeJS.Signals): void {
      // The console of Windows has told all its processes. A terminal sends these two to the whole group.
      const isTold = IS_WINDOWS || (!hasGroup && (signal === 'SIGINT' || signal === 'SIGQUIT'))
      if (!isTold) send(signal)
    },
    /** Ends what the command started and left behind. Not at a terminal, where its job control does that. */
    async endRest(): Promise<void> {
      if (!hasGroup || !send('SIGTERM')) return
      await delay(REST_GRACE)
      send('SIGKILL')
    }
  }
}

/**
 * Starts a process that waits for the id of another one, or of a group, and ends that once its pipe closes: when this
 * process is gone, however it ended.
 */
function startGuard(): ChildProcess {
  const script =
    'read target; read _; kill -s TERM -- "$target" && sleep 1 && kill -s KILL -- "$target"'
  const guard = spawn('/bin/sh', ['-c', script], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true
  })
  guard.unref()
  guard.stdin?.on('error', () => {})
  // Without a shell there is none.
  return guard.on('error', () => {})
}

/** Ends this process as another has ended, also by its signal: who waits for us may look at that. */
async function endLike({ code, signal }: Ending): Promise<void> {
  process.exitCode = code ?? undefined
  if (signal === null) return
  process.removeAllListeners(signal)
  // Node ignores or uses some. What a listener leaves behind is the default of the system.
  attempt(() => process.on(signal, () => {}).removeAllListeners(signal))
  process.kill(process.pid, signal)
  // It is on its way, unless the system has no such signal.
  await delay(REST_GRACE)
  process.exit(128 + constants.signals[signal])
}
