import { setTimeout as delay } from 'node:timers/promises'
import { type Command, Option } from 'commander'
import { StartError } from '../core/errors.js'
import { askHealth, serverUrl, urlOfVariable } from './health.js'
import { addOptions, portOption, textOption } from './options.js'
import { describeServer, forget, isRunning, readPid, type StartedServer, startedServers } from './started.js'

/** Which of the servers that were started. */
interface Choice {
  port?: number
  pidFile?: string
  json?: true
}

function choiceOptions(unset: string): Option[] {
  return [
    portOption('the server that was started on this port', 1).default(undefined, unset),
    textOption('--pid-file <file>', 'the server that was started with this pid file', unset),
    new Option('--json', 'print the outcome as JSON')
  ]
}

export function addStatus(program: Command): void {
  const command = program
    .command('status')
    .description('list the servers that `start` has started: exit code 0 when one of them runs, 1 when none does')
    .argument('[url]', 'ask this server, however it was started; by default NOTIFICATION_MOCK_URL', serverUrl)
  addOptions(command, choiceOptions('all')).action(status)
}

async function status(argument: string | undefined, choice: Choice): Promise<void> {
  const url = argument ?? (isChosen(choice) ? undefined : urlOfVariable())
  const servers = url === undefined ? await Promise.all(chosen(choice).map(describeState)) : [await stateOf(url)]
  const lines = servers.map(({ url = '', state, pid, startedAt, logFile }) =>
    [`${url}  ${state}`.trimStart(), pid && `process ${pid} since ${startedAt}`, logFile && `log in ${logFile}`]
      .filter(Boolean)
      .join(', ')
  )
  const text = lines.length > 0 ? lines.join('\n') : 'no server is running'
  process.stdout.write(`${choice.json ? JSON.stringify({ servers }) : text}\n`)
  if (!servers.some(({ state }) => state === 'running')) process.exitCode = 1
}

interface ServerState extends Partial<Omit<StartedServer, 'process'>> {
  state: 'running' | 'starting' | 'not answering' | 'ended'
}

async function describeState(started: StartedServer): Promise<ServerState> {
  const { process: _, ...server } = started
  if (!isRunning(started)) return { ...server, state: 'ended' }
  return server.url === undefined ? { ...server, state: 'starting' } : { ...server, ...(await stateOf(server.url)) }
}

async function stateOf(url: string): Promise<ServerState> {
  const isHealthy = await askHealth(url).then(
    () => true,
    () => false
  )
  return { url, state: isHealthy ? 'running' : 'not answering' }
}

interface StopFlags extends Choice {
  all?: true
}

/** How long a server may take to end, in milliseconds: it gives itself less. */
const PATIENCE = 10_000
const INTERVAL = 20

export function addStop(program: Command): void {
  const command = program
    .command('stop')
    .description('stop a server that `start` has started, and wait until it has ended')
  addOptions(command, [
    ...choiceOptions('the only one that runs'),
    new Option('--all', 'stop all that this user has started, whatever else is chosen')
  ]).action(stop)
}

async function stop({ all, json, ...choice }: StopFlags): Promise<void> {
  const found = chosen(all ? {} : choice)
  const running = found.filter(isRunning)
  for (const server of found) if (!running.includes(server)) forget(server)
  if (running.length > 1 && !all && !isChosen(choice)) {
    const each = running.map(describeServer).join(', ')
    throw new StartError(`there are several servers: ${each}; choose one with --port or --pid-file, or give --all`)
  }
  await Promise.all(running.map(end))
  const stopped = running.map(({ url, pid }) => ({ url, pid }))
  const text =
    running.length > 0 ? running.map((server) => `stopped ${describeServer(server)}`) : ['no server is running']
  process.stdout.write(json ? `${JSON.stringify({ stopped })}\n` : `${text.join('\n')}\n`)
}

async function end(server: StartedServer): Promise<void> {
  process.kill(server.pid, 'SIGTERM')
  for (let waited = 0; isRunning(server); waited += INTERVAL) {
    if (waited > PATIENCE) throw new StartError(`${describeServer(server)} has not ended after ${PATIENCE / 1000} s`)
    await delay(INTERVAL)
  }
  forget(server)
}

const isChosen = ({ port, pidFile }: Choice) => port !== undefined || pidFile !== undefined

function chosen({ port, pidFile }: Choice): StartedServer[] {
  const servers = startedServers()
  if (pidFile !== undefined) {
    const pid = readPid(pidFile)
    return servers.filter((server) => server.pid === pid)
  }
  return port === undefined
    ? servers
    : servers.filter(({ url }) => url !== undefined && Number(new URL(url).port) === port)
}
