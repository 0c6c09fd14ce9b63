import { type Command, Option } from 'commander'
import spawn from 'cross-spawn'
import type { Report } from '../client/report.js'
import { DEFAULTS } from '../config.js'
import { StartError } from '../domain/errors.js'
import { curlCommand } from '../domain/shell.js'
import { shorten } from '../domain/shorten.js'
import { writeToStderr } from '../platform/stderr.js'
import { addOptions, countOption, textOption } from './options.js'
import { keyOption } from './reach.js'
import { type ReopenedTest, reopenTests } from './reopen-test.js'
import { chooseTests, failedTests, failingRequest, readReport } from './report-file.js'
import { plainLogger } from './serve.js'
import { GRACE, LAST_RESORT, onStopSignal, printOutcome } from './terminal.js'

interface OpenFlags {
  test?: string
  at?: number
  port: number
  apiKey?: string
  /** False after `--no-open`. */
  open: boolean
}

export function addCommands(root: Command): void {
  const command = root
    .command('open')
    .helpGroup('Test against it:')
    .description('start a server that recreates the environment of a failed test from a report')
    .argument('<report>', 'the HTML file that exec --report wrote')
    .addHelpText('after', EXPLANATION)
  addOptions(command, [
    textOption('--test <title>', 'title of the test, or a part of it', 'the first failed test'),
    countOption('--at <number>', 'stop before the request with this number', 1e9, 1).default(
      undefined,
      'the first request that failed or that the failure mentions'
    ),
    countOption('--port <number>', 'port to listen on; 0 selects a free one', 65_535).default(0),
    keyOption('--api-key <key>', 'API key of the environment', 'a key derived from its id'),
    new Option('--no-open', 'do not open the inspector in the browser')
  ]).action(open)
}

const EXPLANATION = `
Recreates the environment, repeats the test's requests before --at, and compares the responses with
the recorded ones. To repeat the remaining requests one by one, use "Send next" in the inspector or
POST /_mock/replay/next. The browser isn't opened if CI is set, or if stdout is not a terminal.

Example:
  notification-mock open run.html --test "checkout" --at 3`

async function open(file: string, flags: OpenFlags, command: Command): Promise<void> {
  try {
    const report = readReport(file)
    const reopened = await start(report, flags)
    closeOnSignal(reopened)
    printOutcome(describe(report, reopened), undefined, (lines) => `${lines.join('\n')}\n`)
    if (shouldOpenBrowser(flags)) openBrowser(reopened.server.url)
  } catch (error) {
    if (!(error instanceof StartError)) throw error
    command.error(`error: ${error.message}`)
  }
}

async function start(report: Report, flags: OpenFlags): Promise<ReopenedTest> {
  const { test: title, at, port, apiKey } = flags
  const tests = chooseTests(report, title)
  const [first] = tests
  const last = first?.requests.at(-1)?.sequence ?? 0
  if (first && at !== undefined && !first.requests.some(({ sequence }) => sequence === at)) {
    throw new StartError(`--at: "${first.title}" has no request ${at}; its last request is ${last}`)
  }
  const before = at ?? (first && failingRequest(first))
  const logger = await plainLogger('warn')
  return reopenTests(report, { tests, before, apiKey, port, host: DEFAULTS.host, logger })
}

/** Closes the server and ends the process on a signal. */
function closeOnSignal({ server }: ReopenedTest): void {
  onStopSignal(() => {
    setTimeout(() => process.exit(1), LAST_RESORT).unref()
    server.close(GRACE).then(
      () => process.exit(0),
      () => process.exit(1)
    )
  })
}

/** Returns the lines to print after reopening a test. */
export function describe(report: Report, { server, replay, apiKey }: ReopenedTest): string[] {
  const { title, warnings, requests } = replay.state()
  const repeated = requests.filter(({ result }) => result === 'equal' || result === 'different')
  const others = failedTests(report).filter((test) => test.title !== title)
  return [
    `Reopened "${title}" at ${server.url}`,
    `  Authorization: ApiKey ${apiKey}`,
    ...warnings.map((warning) => `Warning: ${warning}`),
    `Repeated ${repeated.length} of ${requests.length} requests`,
    ...repeated.flatMap(({ sequence, method, target, differences = [], cause }) =>
      differences.length === 0
        ? []
        : [
            `  ${sequence} ${method} ${target} differs: ${cause ?? 'the cause is not known'}`,
            ...differences.map(
              ({ part, recorded = '(none)', repeated: now = '(none)' }) =>
                `    ${part}: recorded ${short(recorded)}, now ${short(now)}`
            )
          ]
    ),
    ...nextLines(server.url, replay, apiKey),
    ...(others.length > 0 ? ['Other failed tests that you can pass to --test:'] : []),
    ...others.map((test) => `  ${test.title}`)
  ]
}

/** The maximum number of characters to print for a differing value. */
const MAX_VALUE = 200

const short = (text: string) => shorten(text, MAX_VALUE)

function nextLines(url: string, replay: ReopenedTest['replay'], apiKey: string): string[] {
  const { next } = replay
  if (!next) return ['All requests were repeated']
  const { method, body, headers } = next
  const curl = curlCommand({
    method,
    url: url + replay.targetOf(next),
    headers: [
      ['authorization', `ApiKey ${apiKey}`],
      ...Object.entries(headers).flatMap(([name, value]): [string, string][] =>
        SHOWN_HEADERS.has(name) ? [[name, String(value)]] : []
      )
    ],
    body
  })
  return [`The next request is ${next.sequence}:`, `  ${curl}`]
}

/** The headers to include in the curl command, because they can change the response. */
const SHOWN_HEADERS = new Set(['idempotency-key', 'content-type', 'x-mock-fault', 'origin'])

function shouldOpenBrowser({ open }: OpenFlags): boolean {
  return open && !process.env.CI && process.stdout.isTTY === true
}

const OPENERS: Partial<Record<NodeJS.Platform, string[]>> = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', '""']
}

/** Opens the replay in the inspector. If that fails, asks the user to open the printed URL. */
function openBrowser(url: string): void {
  const [command = '', ...args] = OPENERS[process.platform] ?? ['xdg-open']
  const child = spawn(command, [...args, `${url}/#/replay`], { stdio: 'ignore', detached: true })
  const reportFailure = () => writeToStderr('cannot open a browser; open the URL above\n')
  child.on('error', reportFailure)
  child.on('exit', (code) => {
    if (code !== 0) reportFailure()
  })
  child.unref()
}
