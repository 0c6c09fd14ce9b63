import { setTimeout as delay } from 'node:timers/promises'
import { type Command, CommanderError, Option } from 'commander'
import { isHeaderValue } from '../client/connection.js'
import { DEFAULTS, reachableHost } from '../config.js'
import { StartError } from '../domain/errors.js'
import { printable } from '../platform/printable.js'
import { addOptions, countOption, hostOption, portOption } from './options.js'

/** Where a server is that was started without flags. */
export const USUAL_URL = `http://${DEFAULTS.host}:${DEFAULTS.port}`

/** In milliseconds: how long an answer may take, less than a container engine gives its check; and between two attempts. */
const TIMEOUT = 2500
const INTERVAL = 100

type Address = { host: string; port: number }

export function addCommands(root: Command): void {
  const waiting = root
    .command('wait')
    .helpGroup('Test against it:')
    .description('wait until a server is ready')
  const timeout = countOption(
    '--timeout <seconds>',
    'how long to wait; 0 for as long as it takes',
    86_400
  ).default(60)
  addOptions(addAddress(waiting), [
    timeout,
    new Option('--json', 'print the outcome as JSON')
  ]).action(wait)
  const asking =
    'ask a running server whether it is healthy: exit code 0 when it is, 1 when it is not'
  const checking = root.command('healthcheck').helpGroup('Ask about it:').description(asking)
  addAddress(checking).action(checkHealth)
}

function addAddress(command: Command): Command {
  const url = 'the server; by default NOTIFICATION_MOCK_URL, or else that of --host and --port'
  return addOptions(command.argument('[url]', url, serverUrl), [
    hostOption('address that the server listens on'),
    portOption('port that the server listens on', 1)
  ])
}

async function checkHealth(
  url: string | undefined,
  address: Address,
  command: Command
): Promise<void> {
  await askHealth(serverOf(url, address, command))
  process.stdout.write('healthy\n')
}

async function wait(
  argument: string | undefined,
  { timeout, json, ...address }: Address & { timeout: number; json?: true },
  command: Command
): Promise<void> {
  const url = serverOf(argument, address, command)
  const started = performance.now()
  const left = () => (timeout === 0 ? TIMEOUT : started + timeout * 1000 - performance.now())
  const issue = () =>
    askHealth(url, Math.max(INTERVAL, Math.min(TIMEOUT, Math.ceil(left())))).catch((error) => error)
  for (let error = await issue(); error instanceof Error; error = await issue()) {
    if (left() <= INTERVAL) throw new StartError(`not ready after ${timeout} s: ${error.message}`)
    await delay(INTERVAL)
  }
  const milliseconds = Math.round(performance.now() - started)
  process.stdout.write(json ? `${JSON.stringify({ url, milliseconds })}\n` : `${url} is ready\n`)
}

function serverOf(given: string | undefined, { host, port }: Address, command: Command): string {
  const url = `http://${reachableHost(host)}:${port}`
  const isFlag = ['host', 'port'].some((name) => command.getOptionValueSource(name) === 'cli')
  return given ?? (isFlag ? url : usualServer(url))
}

const askHealth = (server: string, timeout = TIMEOUT) =>
  ask(`${server}/health`, { signal: AbortSignal.timeout(timeout) })

/** Resolves with an answer of success. Rejects with `StartError`, which says what came instead. */
export async function ask(url: string, init: RequestInit): Promise<Response> {
  const response = await fetch(url, init).catch(({ cause, message }) => {
    throw new StartError(`${url}: no answer: ${cause?.code ?? cause?.message ?? message}`)
  })
  if (response.ok) return response
  const reason =
    response.headers.get('x-mock-reason') ?? (await response.text().catch(() => '')).slice(0, 500)
  throw new StartError(`${url}: answers ${response.status}: ${printable(reason)}`)
}

/** Returns a server's URL without a slash at its end. One that is wrong is not repeated, as it may hold a password. */
export function serverUrl(text: string, _before?: unknown, name = 'the argument'): string {
  const isPlain = /^https?:[^?#]*$/i.test(text) && URL.canParse(text)
  if (isPlain && !new URL(text).username && !new URL(text).password) return text.replace(/\/+$/, '')
  const plain = 'without user name, password, query and fragment'
  throw usageError(`${name} must be the URL of a server, such as ${USUAL_URL}, ${plain}`)
}

/** Returns the server that exec, or who runs this, has named in a variable, or else the usual one. */
export function usualServer(usual = USUAL_URL): string {
  const url = process.env.NOTIFICATION_MOCK_URL
  return url ? serverUrl(url, undefined, 'NOTIFICATION_MOCK_URL') : usual
}

/** Not an InvalidArgumentError, which is printed with the value. */
function usageError(message: string): CommanderError {
  return new CommanderError(2, 'notification-mock.value', `error: ${message}`)
}

/** A flag for the address of a server to ask. It must be given, unless help can say what it is without. */
export function urlOption(flags: string, description: string, unset?: string): Option {
  const option = new Option(flags, description).argParser(serverUrl).default(undefined, unset)
  return option.makeOptionMandatory(unset === undefined)
}

/** A flag for the key that it is asked with. Its variable keeps the key out of the list of processes; no error has it. */
export function keyOption(flags: string, description: string, unset?: string): Option {
  const option = new Option(flags, description)
    .makeOptionMandatory(unset === undefined)
    .default(undefined, unset)
  return option.argParser((text) => {
    if (text !== '' && isHeaderValue(text)) return text
    throw usageError(`${flags} must be a key that a header can carry`)
  })
}

export const rateOption = () =>
  countOption('--rate <count>', 'send at most so many requests a second', 10_000, 1)
export const timeoutOption = () =>
  countOption('--timeout <seconds>', 'wait so long for an answer', 3600, 1)
