import { spawn, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { attempt } from '../core/errors.js'
import type { Mock } from '../index.js'
import { printable } from './printable.js'
import { onStopSignal } from './signals.js'

/** What is told when the server is ready. */
export const KEYS_HINT = 'Keys: r resets all environments, o opens the page, q quits, h lists these\n'

const HELP = `r  reset all environments to their beginning
o  open the page in the browser
h  list these keys
q  quit, as Ctrl-C does
`

/** How long this process may take to stop by a signal of its own, in milliseconds. */
const STOP_TIME = 100

/** Whether there is somebody to press keys: at a terminal, in whose foreground this process is. */
export function canTakeKeys(): boolean {
  return Boolean(process.stdin.isTTY && process.stdout.isTTY) && isInForeground()
}

/**
 * Takes single keys from the terminal, while this process is in its foreground. In raw mode the terminal makes no signals of
 * keys, so that is done here; its former mode comes back when the process ends or is suspended.
 */
export function takeKeys(mock: Pick<Mock, 'url' | 'resetAll'>, quit: () => void): void {
  const { stdin } = process
  const print = (text: string) => process.stdout.write(text)
  const actions: Record<string, () => void> = {
    r: () => print(`${resetAll(mock)}\n`),
    o: () => openPage(mock.url, print),
    h: () => print(HELP),
    q: () => {
      // What is typed from here on is for the shell.
      release()
      quit()
    },
    // To set off what comes after.
    '\r': () => print('\n'),
    '\x03': () => signalGroup('SIGINT', quit),
    '\x1a': () => signalGroup('SIGTSTP', () => {}),
    '\x1c': () => signalGroup('SIGQUIT', quit)
  }
  // A terminal that has gone.
  stdin.on('error', () => {})
  stdin.on('data', (chunk) => {
    // Anything longer was not typed as a key: an arrow, say, or a text that was pasted.
    const text = chunk.toString().toLowerCase()
    const pressed = text.length === 1 ? text : ['\x03', '\x1a', '\x1c'].find((key) => text.includes(key))
    if (pressed !== undefined && Object.hasOwn(actions, pressed)) actions[pressed]?.()
  })
  process.on('exit', release)
  onStopSignal(release)
  if (process.platform !== 'win32') {
    process.on('SIGTSTP', suspend)
    process.on('SIGCONT', resume)
    process.once('SIGQUIT', () => {
      release()
      process.kill(process.pid, 'SIGQUIT')
    })
  }
  stdin.pause()
  resume()

  /** A process in the background would be stopped by the system if it read from the terminal or set its mode. */
  function resume(): void {
    if (!isInForeground()) {
      stdin.pause()
      return
    }
    // First to what it is without us: a shell has set it anew if this process was stopped in raw mode.
    attempt(() => stdin.setRawMode(false).setRawMode(true))
    stdin.resume()
  }

  function release(): void {
    stdin.pause()
    if (stdin.isRaw && isInForeground()) attempt(() => stdin.setRawMode(false))
  }

  /** Stops this process as the signal does by default, with the terminal as it was. */
  function suspend(): void {
    release()
    process.removeListener('SIGTSTP', suspend)
    process.kill(process.pid, 'SIGTSTP')
    // Where the system does not stop it, as nobody could continue it, there is no SIGCONT.
    setTimeout(() => {
      process.on('SIGTSTP', suspend)
      resume()
    }, STOP_TIME)
  }
}

/** Sends a signal to all that the terminal would send it to: npm, which may have started us, is one of them. */
function signalGroup(signal: NodeJS.Signals, instead: () => void): void {
  if (process.platform === 'win32') instead()
  else process.kill(0, signal)
}

/** Whether this process is in the foreground of its terminal. */
function isInForeground(): boolean {
  if (process.platform === 'win32') return true
  if (process.platform !== 'linux') {
    const { stdout } = spawnSync('ps', ['-o', 'pgid=,tpgid=', '-p', String(process.pid)], { encoding: 'utf8' })
    const [group, foreground] = (stdout ?? '').trim().split(/\s+/)
    return group === foreground
  }
  const stat = attempt(() => readFileSync('/proc/self/stat', 'utf8')) ?? ''
  // The name, in parentheses, may have spaces; after it come state, parent, group, session, terminal, its foreground group.
  const [, , group, , , foreground] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return group === foreground
}

/** How many environments are named after a reset. */
const MAX_NAMED = 10

/** Resets all environments, and returns what to tell of it: an error too, as the server goes on. */
export function resetAll(mock: Pick<Mock, 'resetAll'>): string {
  try {
    const names = mock.resetAll().map(printable)
    if (names.length === 0) return 'there is no environment to reset'
    const more = names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : ''
    return `reset to their beginning: ${names.slice(0, MAX_NAMED).join(', ')}${more}`
  } catch (error) {
    return `nothing is reset: ${printable(error instanceof Error ? error.message : String(error))}`
  }
}

/** Opens the page where there is a browser; says in any case where it is. */
function openPage(url: string, print: (text: string) => void): void {
  print(`the page is at ${url}\n`)
  const { platform, env } = process
  // Without a display it would open a browser for terminals in this one.
  if (platform === 'linux' && !env.DISPLAY && !env.WAYLAND_DISPLAY) return
  const [file = '', ...args] =
    platform === 'win32' ? ['cmd', '/c', 'start', '', url] : [platform === 'darwin' ? 'open' : 'xdg-open', url]
  const opener = attempt(() => spawn(file, args, { stdio: 'ignore', detached: true }))
  opener?.on('error', () => print(`${file} can't be run: open that yourself\n`))
  opener?.unref()
}
