import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { commandIn, givenFolder, givenPackage, type Options, type Running, startProcess } from '../support/process.js'

const AUTHORIZED = { headers: { authorization: 'ApiKey development-key' } }

interface Terminal extends Running {
  type(text: string): void
  /** Resolves once the text has been printed, since the last time this was asked. */
  seen(text: string): Promise<void>
}

/** A command line at a terminal of its own. CI's shell is one that stays in front of what it runs, hence `exec`. */
async function atTerminal(commandLine: string, options: Options = {}): Promise<Terminal> {
  const running = await startProcess('script', ['-qec', `exec ${commandLine}`, '/dev/null'], options)
  return { ...running, ...watching(running) }
}

function watching({ child, printed }: Running): Pick<Terminal, 'type' | 'seen'> {
  let unread = printed
  let changed = () => {}
  child.stdout.on('data', (text) => {
    unread += text
    changed()
  })
  return {
    type: (text) => void child.stdin.write(text),
    async seen(text) {
      while (!unread.includes(text)) await new Promise<void>((resolve) => (changed = resolve))
      unread = unread.slice(unread.indexOf(text) + text.length)
    }
  }
}

const serve = async (flags = '') => `"${process.execPath}" "${commandIn(await givenPackage())}" serve --port 0 ${flags}`

/** Resolves when a shell at the terminal finds that lines are edited and signals made of keys, as without us. */
async function seenCooked({ type, seen }: Terminal): Promise<void> {
  type('for word in $(stty -a); do case $word in *icanon*|*isig*) printf "mode:%s\\n" $word; esac; done; echo read\n')
  await seen('mode:isig')
  await seen('mode:icanon')
}

const PROMPT = 'what next? '

/** A shell with job control, at a terminal of its own. */
async function givenShell(options: Options = {}): Promise<Terminal> {
  const command = `echo '{"url"'; exec env 'PS1=${PROMPT}' bash --norc --noprofile -i`
  const shell = await startProcess('script', ['-qec', command, '/dev/null'], options)
  return { ...shell, ...watching(shell) }
}

test('h lists the keys, r resets all environments and says which, q quits with exit code 0', async () => {
  const terminal = await atTerminal(await serve())
  await terminal.seen('Keys: r resets')
  terminal.type('h')
  await terminal.seen('open the page in the browser')
  const { url } = terminal
  const list = async () => (await (await fetch(`${url}/_mock/requests`, AUTHORIZED)).json()) as { requests: unknown[] }
  await fetch(`${url}/v1/messages`, AUTHORIZED)
  expect((await list()).requests).toHaveLength(1)
  terminal.type('r')
  await terminal.seen('reset to their beginning: Development, Production,')
  expect((await list()).requests).toHaveLength(0)
  terminal.type('q')
  expect(await terminal.ended).toMatchObject({ code: 0, signal: null })
})

test('Ctrl-C quits as it did, though the terminal makes no signal of it', async () => {
  const terminal = await atTerminal(await serve())
  await terminal.seen('Keys: r resets')
  terminal.type('\x03')
  expect(await terminal.ended).toMatchObject({ code: 0, signal: null })
})

test('o opens the page by the browser of the system, and says where it is', async () => {
  const folder = givenFolder()
  const opened = join(folder, 'opened')
  writeFileSync(join(folder, 'xdg-open'), `#!/bin/sh\necho "$1" > "${opened}.new" && mv "${opened}.new" "${opened}"\n`)
  chmodSync(join(folder, 'xdg-open'), 0o755)
  const env = { PATH: `${folder}:${process.env.PATH}`, DISPLAY: ':99' }
  const terminal = await atTerminal(await serve(), { env })
  await terminal.seen('Keys: r resets')
  terminal.type('o')
  await terminal.seen(`the page is at ${terminal.url}`)
  while (!existsSync(opened)) await new Promise((resolve) => setImmediate(resolve))
  expect(readFileSync(opened, 'utf8')).toBe(`${terminal.url}\n`)
})

test('what comes at once, such as a pasted text or an arrow, is no key', async () => {
  const terminal = await atTerminal(await serve())
  await terminal.seen('Keys: r resets')
  terminal.type('quit')
  await fetch(`${terminal.url}/health`)
  terminal.type('\x1b[Q')
  await fetch(`${terminal.url}/health`)
  // By itself, sooner or later: what comes right after an arrow may come at once with it.
  const again = setInterval(() => terminal.type('h'), 500)
  onTestFinished(() => clearInterval(again))
  await terminal.seen('q  quit')
})

test('with --json, and where input or output is no terminal, no keys are taken', async () => {
  for (const rest of ['--json', '< /dev/null', '| cat']) {
    const line = `${await serve(rest)}`
    const { printed, child } = await startProcess('script', ['-qec', `stty -a; ${line}`, '/dev/null'])
    expect(printed, rest).not.toContain('Keys:')
    child.kill('SIGKILL')
  }
})

test('Ctrl-Z suspends it with the terminal as it was; in front again, however it was stopped, it takes keys again', async () => {
  const shell = await givenShell()
  shell.type(`${await serve()}\n`)
  await shell.seen('Keys: r resets')
  const server = childOf(childOf(shell.child.pid))
  for (const stop of [() => shell.type('\x1a'), () => process.kill(server, 'SIGSTOP'), () => shell.type('\x1a')]) {
    stop()
    await shell.seen('Stopped')
    await seenCooked(shell)
    shell.type('fg\n')
    await shell.seen('serve --port 0')
    await pressUntil(shell, 'h', 'q  quit')
  }
  shell.type('q')
  await shell.seen(PROMPT)
  await seenCooked(shell)
})

/** Presses a key until it is taken: a shell says that it continues a process before that is so. */
async function pressUntil({ type, seen }: Terminal, key: string, text: string): Promise<void> {
  let isSeen = false
  const timer = setInterval(() => isSeen || type(key), 200)
  await seen(text)
  isSeen = true
  clearInterval(timer)
}

test('in the background it runs on, after Ctrl-Z as from the start, whatever is typed', async () => {
  const shell = await givenShell()
  shell.type(`${await serve()}\n`)
  await shell.seen('Keys: r resets')
  shell.type('\x1a')
  await shell.seen('Stopped')
  shell.type('bg\n')
  await shell.seen('serve --port 0')
  shell.type(`${await serve()} &\n`)
  await shell.seen('Try:')
  for (const word of ['one', 'two', 'three']) {
    shell.type(`echo typed-$((1))-${word}\n`)
    await shell.seen(`typed-1-${word}`)
  }
  await seenCooked(shell)
  shell.type('echo jobs: $(jobs -r | grep -c serve) run, $(jobs -s | grep -c serve) do not\n')
  await shell.seen('jobs: 2 run, 0 do not')
  shell.type('kill %1 %2\n')
})

test.each(['SIGTERM', 'SIGINT', 'SIGQUIT', 'SIGUSR2'])(
  'a %s from elsewhere leaves the terminal as it was',
  async (signal) => {
    const file = join(givenFolder(), 'failing.cjs')
    writeFileSync(file, `process.on('SIGUSR2', () => { throw new Error('uncaught') })`)
    // Interactive shells mend the terminal themselves.
    const line = `ulimit -c 0; NODE_OPTIONS=--require=${file} ${await serve()}; echo ended; exec stty -a`
    const running = await startProcess('script', ['-qec', line, '/dev/null'])
    const terminal = { ...running, ...watching(running) }
    await terminal.seen('Keys: r resets')
    process.kill(childOf(childOf(running.child.pid)), signal)
    const { stdout } = await terminal.ended
    expect(stdout.split('ended').at(-1)).toMatch(/\sisig icanon\s/)
  }
)

/** The last process that a process has started. */
function childOf(pid: number): number {
  const { stdout } = spawnSync('ps', ['-o', 'pid=', '--ppid', String(pid)], { encoding: 'utf8' })
  return Number(stdout.trim().split('\n').at(-1))
}
