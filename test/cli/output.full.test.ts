import { expect, test } from 'vitest'
import {
  buildPackage,
  commandIn,
  createTempFolder,
  type RunningProcess,
  startCommand,
  startProcess
} from '../support/process.js'
import { expectCleanFile } from './stopping.js'

/** Returns our command, quoted for use in a bash script. */
async function ours(...args: string[]): Promise<string> {
  return [process.execPath, commandIn(await buildPackage()), ...args]
    .map((word) => `"${word}"`)
    .join(' ')
}

async function startInBash(script: string, cwd: string): Promise<RunningProcess> {
  return startProcess('bash', ['-c', script], { cwd })
}

/** Causes more rejected requests than a pipe can buffer as log lines. */
async function refuseMany(url: string): Promise<void> {
  for (let count = 0; count < 1500; count += 1) {
    expect((await fetch(`${url}/v1/messages`)).status).toBe(401)
  }
}

test('a server with an unread stderr responds, and exits on SIGTERM with 0 and a clean file', async () => {
  const cwd = createTempFolder()
  const server = await ours('--port', '0', '--data', 'kept.db')
  const { child, url, ended } = await startInBash(
    `mkfifo log; exec 3<>log; exec ${server} 2>&3`,
    cwd
  )
  await refuseMany(url)
  const sentAt = performance.now()
  child.kill('SIGTERM')
  expect(await ended).toMatchObject({ code: 0, signal: null })
  expect(performance.now() - sentAt).toBeLessThan(2000)
  expectCleanFile(cwd)
})

test('a command exits silently when its reader closes the pipe, and reports a full disk in one line', async () => {
  const run = async (script: string) => {
    const { ended } = await startProcess('bash', ['-c', `set -o pipefail; ${script}; echo $?`], {
      ready: /^\d+$/m
    })
    return ended
  }
  const { url } = await startCommand(['--port', '0'])
  const exporting = await ours('seed', 'export', url, '--api-key', 'development-key')
  expect(await run(`${exporting} | head -n 1`)).toMatchObject({
    stdout: 'environments:\n0\n',
    stderr: ''
  })
  const openapi = await ours('openapi')
  expect(await run(`${openapi} | head -n 1`)).toMatchObject({ stdout: '{\n0\n', stderr: '' })
  expect(await run(`${openapi} > /dev/full`)).toMatchObject({
    stdout: '1\n',
    stderr: "error: can't write to stdout: the disk is full; free some space\n"
  })
})
