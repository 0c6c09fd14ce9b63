import { expect, test } from 'vitest'
import { AUTHORIZATION, SET_PRIMARY } from '../cli/stopping.js'
import { connectTo } from '../http/exchange.js'
import { startCommand } from '../support/process.js'

function request(key: string, fault = ''): string {
  const headers = {
    host: 'a',
    ...AUTHORIZATION,
    'idempotency-key': key,
    'content-length': 0,
    'x-mock-fault': fault
  }
  const lines = Object.entries(headers).filter(([, value]) => value !== '')
  return [
    `POST ${SET_PRIMARY} HTTP/1.1`,
    ...lines.map(([name, value]) => `${name}: ${value}`),
    '',
    ''
  ].join('\r\n')
}

// Run the server in a separate process. In the test's own process, the server would always notice
// the closed connection before the next request, so the test would never find a key still in use.
test.each(['delay=1,abort=reset', 'abort=reset', 'lostResponse', 'abort=truncate'])(
  'after the fault %s, an immediate retry with the same key succeeds',
  async (fault) => {
    const port = Number(new URL((await startCommand([])).url).port)
    const second = await connectTo({ port })
    for (let count = 0; count < 200; count += 1) {
      const first = await connectTo({ port })
      first.send(request(`key-${count}`, fault))
      await first.answer().catch(() => undefined)
      second.send(request(`key-${count}`))
      expect((await second.answer())?.status).toBe(200)
    }
    second.socket.destroy()
  }
)
