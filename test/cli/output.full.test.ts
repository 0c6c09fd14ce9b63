import { expect, test } from 'vitest'
import {
  buildPackage,
  commandIn,
  createTempFolder,
  type ProcessResult,
  type RunningProcess,
  startCommand,
  startProcess
} from '../support/process.js'
import { expectCleanFile } from './stopping.js'

/** Returns a `notification-mock` command line, quoted for bash. */
async function quotedCommand(...args: string[]): Promise<string> {
  return [process.execPath, commandIn(await buildPackage()), ...args]
    .map((word) => `"${word}"`)
    .join(' ')
}

async function startInBash(script: string, cwd: string): Promise<RunningProcess> {
  return startProcess('bash', ['-c', script], { cwd })
}

/** Sends 1,500 requests without a key. Their log lines fill the buffer of a pipe. */
async function sendRejectedRequests(url: string): Promise<void> {
  for (let count = 0; count < 1500; count += 1) {
    expect((await fetch(`${url}/v1/messages`)).status).toBe(401)
  }
}

test('a server whose stderr is never read still responds and stops cleanly', async () => {
  const cwd = createTempFolder()
  const server = await quotedCommand('--port', '0', '--data', 'kept.db')
  const { child, url, ended } = await startInBash(
    `mkfifo log; exec 3<>log; exec ${server} 2>&3`,
    cwd
  )
  await sendRejectedRequests(url)
  const sentAt = performance.now()
  child.kill('SIGTERM')
  expect(await ended).toMatchObject({ code: 0, signal: null })
  expect(performance.now() - sentAt).toBeLessThan(2000)
  expectCleanFile(cwd)
})

/** Runs a pipeline in bash. The last line of the returned `stdout` is the pipeline's exit code. */
async function runPipeline(pipeline: string): Promise<ProcessResult> {
  const script = `set -o pipefail; ${pipeline}; echo $?`
  const { ended } = await startProcess('bash', ['-c', script], { ready: /^\d+$/m })
  return ended
}

test('a command exits silently when the reader of its output closes the pipe', async () => {
  const { url } = await startCommand(['--port', '0'])
  const exporting = await quotedCommand('seed', 'export', url, '--api-key', 'development-key')
  expect(await runPipeline(`${exporting} | head -n 1`)).toMatchObject({
    stdout: 'environments:\n0\n',
    stderr: ''
  })
  const openapi = await quotedCommand('openapi')
  expect(await runPipeline(`${openapi} | head -n 1`)).toMatchObject({
    stdout: '{\n0\n',
    stderr: ''
  })
})

test('a command reports a full disk in one line', async () => {
  expect(await runPipeline(`${await quotedCommand('openapi')} > /dev/full`)).toMatchObject({
    stdout: '1\n',
    stderr: "error: can't write to stdout: the disk is full; free some space\n"
  })
})
