/**
 * Smoke-tests a built, packed or containerized server: starts it, sends three requests, and stops
 * it with SIGTERM. The server's behavior is tested in test/.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

const START_WITHIN = 30_000
const STOP_WITHIN = 10_000

/**
 * Resolves with a summary of the run. Rejects with an `Error` whose message contains the cause and
 * the server's stderr. `args` must include `--json`, so that the server prints one line of JSON
 * when it is ready.
 */
export async function startAndRequest({ command, args, cwd, env = process.env }) {
  const server = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
  const exited = once(server, 'exit')
  // `exited` can reject before the code below awaits it. Without this handler, Node would report an
  // unhandled rejection.
  exited.catch(() => {})
  let stderr = ''
  server.stderr.setEncoding('utf8').on('data', (text) => {
    stderr += text
  })

  try {
    const startedAt = performance.now()
    const ready = await readyLine(server, exited)
    const startedIn = Math.round(performance.now() - startedAt)
    await sendRequests(ready.url, ready)
    server.kill('SIGTERM')
    const [code, signal] = await within(
      STOP_WITHIN,
      exited,
      'the server did not stop after SIGTERM'
    )
    // Windows has no SIGTERM. Node kills the process instead, which then has no exit code.
    if (code !== 0 && process.platform !== 'win32') {
      throw new Error(`after SIGTERM the exit code was ${code ?? signal} instead of 0`)
    }
    return `ready in ${startedIn} ms, responded, and exited with ${code ?? signal} on SIGTERM`
  } catch (error) {
    throw new Error([error.message, stderr.trim()].filter(Boolean).join('\n'))
  } finally {
    server.kill('SIGKILL')
  }
}

async function readyLine(server, exited) {
  const line = await within(
    START_WITHIN,
    Promise.race([
      once(createInterface(server.stdout), 'line').then(([text]) => text),
      exited.then(([code, signal]) => {
        throw new Error(`the server exited with ${code ?? signal} before it was ready`)
      })
    ]),
    'the server printed no line'
  )
  const ready = parse(line)
  if (typeof ready?.url !== 'string' || !ready.environments?.[0]?.apiKeys?.[0]) {
    throw new Error(
      `the first line of output is not {"url":…,"environments":[{"apiKeys":[…]}]}: ${line}`
    )
  }
  return ready
}

async function sendRequests(url, { environments }) {
  const authorization = `ApiKey ${environments[0].apiKeys[0]}`
  await expectStatus(`${url}/health`, {}, 200)
  await expectStatus(`${url}/v1/messages`, {}, 401)
  const page = parse(await expectStatus(`${url}/v1/messages`, { authorization }, 200))
  if (!Array.isArray(page?.data))
    throw new Error('the response of GET /v1/messages has no `data` array')
}

async function expectStatus(url, headers, status) {
  const response = await fetch(url, { headers, signal: AbortSignal.timeout(10_000) })
  const body = await response.text()
  if (response.status !== status)
    throw new Error(`GET ${url}: status ${response.status} instead of ${status}: ${body}`)
  return body
}

function parse(text) {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

async function within(milliseconds, promise, message) {
  let timer
  const late = new Promise((_, reject) => {
    timer = setTimeout(
      () => reject(new Error(`${message} within ${milliseconds / 1000} s`)),
      milliseconds
    )
  })
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}
