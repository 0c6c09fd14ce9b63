import { setTimeout as delay } from 'node:timers/promises'
import { type Command, CommanderError, Option } from 'commander'
import { isHeaderValue } from '../client/connection.js'
import { DEFAULTS, reachableHost } from '../config.js'
import { StartError } from '../domain/errors.js'
import { type DirectRequest, type DirectResponse, directFetch } from '../platform/direct-fetch.js'
import { printable } from '../platform/printable.js'
import { addOptions, countOption, hostOption, portOption, withoutVariable } from './options.js'

/** The URL of a server that was started without flags. */
export const DEFAULT_URL = `http://${DEFAULTS.host}:${DEFAULTS.port}`

/**
 * Milliseconds to wait for a response. Less than the 3 seconds after which Docker aborts the
 * image's health check, so that `healthcheck` can still print its result.
 */
const TIMEOUT = 2500

/** Milliseconds between two attempts of `wait` to reach the server. */
const INTERVAL = 100

type Address = { host: string; port: number }

export function addCommands(root: Command): void {
  const waiting = root
    .command('wait')
    .helpGroup('Test against it:')
    .description('wait until a server is ready')
  const timeout = countOption(
    '--timeout <seconds>',
    'how long to wait; 0 means no limit',
    86_400
  ).default(60)
  addOptions(addAddress(waiting), [
    timeout,
    new Option('--json', 'print the result as JSON')
  ]).action(wait)
  const description = 'check whether a server is healthy; exit with 0 if it is, with 1 if not'
  const checking = root.command('healthcheck').helpGroup('Inspect it:').description(description)
  addAddress(checking).action(checkHealth)
}

function addAddress(command: Command): Command {
  const url = 'URL of the server (default: NOTIFICATION_MOCK_URL, else from --host and --port)'
  return addOptions(command.argument('[url]', url, serverUrl), [
    hostOption('address of the server'),
    portOption('port of the server', 1)
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

function serverOf(argument: string | undefined, { host, port }: Address, command: Command): string {
  const url = `http://${reachableHost(host)}:${port}`
  const isFlag = ['host', 'port'].some((name) => command.getOptionValueSource(name) === 'cli')
  return argument ?? (isFlag ? url : defaultServer(url))
}

async function askHealth(server: string, timeout = TIMEOUT): Promise<void> {
  const response = await ask(`${server}/health`, { signal: AbortSignal.timeout(timeout) })
  // Read to the end, because an open response keeps this process alive.
  await response.text()
}

/**
 * Sends a request. Rejects with `StartError` if there is no response or it isn't successful. The
 * caller must read the response's body to the end.
 */
export async function ask(url: string, request: DirectRequest): Promise<DirectResponse> {
  const response = await directFetch(url, request).catch(({ code, message }) => {
    throw new StartError(`${url}: no response: ${typeof code === 'string' ? code : message}`)
  })
  if (response.ok) return response
  const body = await response.text().catch(() => '')
  const reason = response.headers.get('x-mock-reason') ?? body.slice(0, 500)
  throw new StartError(`${url} returned ${response.status}: ${printable(reason)}`)
}

/**
 * Checks a server's URL and removes trailing slashes. The usage error doesn't repeat the URL,
 * because it may contain a password.
 */
export function serverUrl(text: string, _before?: unknown, name = 'the argument'): string {
  const isValid = /^https?:[^?#]*$/i.test(text) && URL.canParse(text)
  if (isValid && !new URL(text).username && !new URL(text).password) return text.replace(/\/+$/, '')
  throw usageError(
    `${name} must be the URL of a server, such as ${DEFAULT_URL}, ` +
      'without a user name, password, query or fragment'
  )
}

/**
 * Returns the URL in NOTIFICATION_MOCK_URL, which `exec` sets for its command. If the variable
 * isn't set, returns `fallback`.
 */
export function defaultServer(fallback = DEFAULT_URL): string {
  const url = process.env.NOTIFICATION_MOCK_URL
  return url ? serverUrl(url, undefined, 'NOTIFICATION_MOCK_URL') : fallback
}

/**
 * Creates a usage error without the rejected value, which may contain a secret. Commander adds the
 * value to the message of every `InvalidArgumentError`.
 */
function usageError(message: string): CommanderError {
  return new CommanderError(2, 'notification-mock.value', `error: ${message}`)
}

/**
 * Creates a flag for a server's URL. With `unset`, the flag is optional, and the help shows `unset`
 * as its default.
 */
export function urlOption(flags: string, description: string, unset?: string): Option {
  const option = new Option(flags, description).argParser(serverUrl).default(undefined, unset)
  return option.makeOptionMandatory(unset === undefined)
}

/** Like `urlOption`, but for an API key. The flag's errors never contain the key. */
export function keyOption(flags: string, description: string, unset?: string): Option {
  const option = new Option(flags, description)
    .makeOptionMandatory(unset === undefined)
    .default(undefined, unset)
  return option.argParser((text) => {
    if (text !== '' && isHeaderValue(text)) return text
    throw usageError(`${flags} must be an API key that is valid in an HTTP header`)
  })
}

export const rateOption = () =>
  countOption('--rate <count>', 'maximum number of requests per second', 10_000, 1)

export const timeoutOption = () =>
  withoutVariable(countOption('--timeout <seconds>', 'how long to wait for a response', 3600, 1))
