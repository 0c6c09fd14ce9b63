import { setTimeout as delay } from 'node:timers/promises'
import { type Command, Option } from 'commander'
import { reachableHost } from '../config.js'
import { StartError } from '../core/errors.js'
import { askHealth, serverUrl, urlOfVariable } from './health.js'
import { addOptions, countOption, hostOption, portOption } from './options.js'

interface WaitFlags {
  host: string
  port: number
  timeout: number
  json?: true
}

/** In milliseconds: between two attempts, and how long one may take. */
const INTERVAL = 100
const MAX_ATTEMPT = 2500

export function addWait(program: Command): void {
  const command = program
    .command('wait')
    .description('wait until a server is ready')
    .argument('[url]', 'the server; by default NOTIFICATION_MOCK_URL, or else that of --host and --port', serverUrl)
  addOptions(command, [
    hostOption('address that the server listens on'),
    portOption('port that the server listens on', 1),
    countOption('--timeout <seconds>', 'how long to wait; 0 for as long as it takes', 86_400).default(60),
    new Option('--json', 'print the outcome as JSON')
  ]).action(wait)
}

async function wait(argument: string | undefined, flags: WaitFlags, command: Command): Promise<void> {
  const { host, port, timeout, json } = flags
  const isFlag = ['host', 'port'].some((name) => command.getOptionValueSource(name) === 'cli')
  const url = argument ?? (isFlag ? undefined : urlOfVariable()) ?? `http://${reachableHost(host)}:${port}`
  const started = performance.now()
  const elapsed = () => performance.now() - started
  const left = () => (timeout === 0 ? Number.POSITIVE_INFINITY : timeout * 1000 - elapsed())
  for (;;) {
    try {
      await askHealth(url, Math.max(INTERVAL, Math.min(MAX_ATTEMPT, Math.ceil(left()))))
      break
    } catch (error) {
      if (left() <= INTERVAL) throw new StartError(`not ready after ${timeout} s: ${(error as Error).message}`)
      await delay(INTERVAL)
    }
  }
  const milliseconds = Math.round(elapsed())
  process.stdout.write(json ? `${JSON.stringify({ url, milliseconds })}\n` : `${url} is ready\n`)
}
