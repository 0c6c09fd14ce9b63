import type { Environment } from '../../src/client/index.js'
import type { Mock } from '../../src/index.js'
import { MAILGUN, SENDGRID, setPrimary } from '../support/control.js'

/** A failed test. The replay tests record its requests and changes, then repeat them. */
export interface PlantedFailure {
  name: string
  options?: Parameters<Mock['environment']>[0]
  run: (test: FailingTest) => Promise<unknown>
  /** Matches the cause of the only response that differs. If absent, no response may differ. */
  causes?: RegExp
  warnings?: string[]
}

export class FailingTest {
  readonly env: Environment

  constructor(env: Environment) {
    this.env = env
  }

  async get(path: string, headers: Record<string, string> = {}): Promise<void> {
    await this.#send(path, { headers })
  }

  async post(path: string, key?: string): Promise<void> {
    await this.#send(path, { method: 'POST', headers: key ? { 'idempotency-key': key } : {} })
  }

  async #send(path: string, init: RequestInit): Promise<void> {
    const headers = { ...this.env.headers, ...init.headers }
    const response = await fetch(this.env.url + path, { ...init, headers }).catch(() => undefined)
    await response?.arrayBuffer().catch(() => undefined)
  }
}

const LIST = '/v1/messages?limit=5'
const PRIMARY = setPrimary(MAILGUN)

export const FAILURES: PlantedFailure[] = [
  { name: 'a wrong filter', run: (test) => test.get('/v1/messages?chanel=sms&subscriberId=a b') },
  { name: 'an invalid limit', run: (test) => test.get('/v1/messages?limit=0') },
  { name: 'an unknown integration', run: (test) => test.post(setPrimary('nobody')) },
  {
    name: 'a stale idempotency key',
    async run(test) {
      await test.post(PRIMARY, 'checkout')
      await test.post(setPrimary(SENDGRID), 'checkout')
      await test.post(PRIMARY, 'checkout')
    }
  },
  {
    name: 'a fault in the middle',
    async run(test) {
      await test.get(LIST)
      await test.env.faults.add({ effect: { status: 500, delay: 30 } })
      await test.get(LIST)
      await test.get(LIST)
    }
  },
  {
    name: 'a fault with a probability',
    async run(test) {
      await test.env.faults.add({ times: 'always', probability: 0.5, effect: { status: 503 } })
      for (let count = 0; count < 8; count++) await test.get(LIST)
    }
  },
  {
    name: 'a fault from the start',
    options: { faults: [{ after: 1, effect: { abort: 'truncate' } }] },
    async run(test) {
      for (let count = 0; count < 3; count++) await test.get(LIST)
    }
  },
  {
    name: 'a lost response',
    async run(test) {
      await test.env.faults.add({ effect: { lostResponse: true } })
      await test.post(PRIMARY)
      await test.post(setPrimary(SENDGRID))
    }
  },
  {
    name: 'a fault from a header',
    run: (test) => test.get(LIST, { 'x-mock-fault': 'status=429' })
  },
  {
    name: 'a latency',
    options: { latency: { delay: 20, spread: 10 } },
    async run(test) {
      await test.get(LIST)
      await test.env.faults.add({ effect: { status: 500 } })
      await test.get(LIST)
    }
  },
  {
    name: 'a stopped clock',
    async run(test) {
      await test.env.clock.set('2026-02-18T09:00:00Z')
      await test.post(PRIMARY)
      await test.get('/v1/messages?limit=0')
    }
  },
  {
    name: 'an advanced clock',
    async run(test) {
      await test.post(PRIMARY, 'again')
      await test.env.clock.advance('25h')
      await test.post(PRIMARY, 'again')
    }
  },
  {
    name: 'a restored snapshot',
    async run(test) {
      const snapshot = await test.env.snapshot('before')
      await test.post(PRIMARY)
      await snapshot.restore()
      await test.post(setPrimary(SENDGRID))
    }
  },
  {
    name: 'a complete reset',
    async run(test) {
      await test.post(PRIMARY)
      await test.env.reset()
      await test.post(setPrimary(SENDGRID))
      await test.get(LIST)
    }
  },
  {
    name: 'records added by hand',
    async run(test) {
      const message = await test.env.messages.add({ channel: 'sms', content: 'by hand' })
      await test.env.integrations.add({ providerId: 'twilio', channel: 'sms', name: 'Added' })
      await test.get(LIST)
      await test.env.messages.change(message._id, { content: 'changed' })
      await test.get(LIST)
    }
  },
  {
    name: 'a seed in YAML',
    async run(test) {
      await test.env.seed('messages:\n  - { channel: email, subject: "From YAML" }')
      await test.get(LIST)
    }
  },
  {
    name: 'a stub',
    async run(test) {
      const body = { _id: '1' }
      await test.env.stubs.add({ method: 'GET', path: '/v1/topics/{key}', status: 202, body })
      await test.get('/v1/topics/news')
    }
  },
  {
    name: 'other assumptions',
    options: { scenario: 'failures', profile: 'live' },
    async run(test) {
      await test.get('/V1/Messages/?limit=3')
      await test.get('/v1/messages?page=99')
    },
    causes: /normalized path/
  },
  {
    name: '300 requests',
    async run(test) {
      for (let count = 0; count < 150; count++) {
        await test.post(count % 2 === 0 ? PRIMARY : setPrimary(SENDGRID))
        await test.get(`/v1/messages?limit=1&page=${count}`)
      }
    }
  },
  {
    name: 'a generated seed of 10,000 messages',
    options: { from: 'Development', seed: { generate: { messages: 10_000 } } },
    async run(test) {
      await test.get('/v1/messages?limit=100&page=2')
      await test.get('/v1/messages?limit=100&page=90')
    }
  },
  {
    name: 'a stub with a function',
    async run(test) {
      const reply = () => ({ status: 200, body: { now: 1 } })
      await test.env.stubs.add({ method: 'GET', path: '/v1/topics', reply })
      await test.get('/v1/topics')
      await test.get(LIST)
    },
    causes: /a stub's function responded/
  },
  {
    name: 'a fallback',
    async run(test) {
      await test.get('/v1/subscribers')
      await test.get(LIST)
    },
    causes: /the fallback server responded/
  },
  {
    name: 'parallel requests',
    async run(test) {
      await test.env.faults.add({ effect: { delay: 300 } })
      await Promise.all([test.post(PRIMARY, 'twice'), test.post(PRIMARY, 'twice')])
      await test.post(PRIMARY, 'twice')
    },
    causes: /was in progress at the same time, so the order of both is unknown/
  },
  {
    name: 'a wrong key',
    async run(test) {
      await test.get(LIST, { authorization: 'ApiKey mistyped-key-1' })
      await test.get(LIST)
    },
    warnings: ['not repeated: 1 request without a valid API key']
  }
]

/** Sends requests alternately to two environments of one test. */
export async function failWithTwoEnvironments(first: FailingTest, second: FailingTest) {
  await first.post(PRIMARY, 'checkout')
  await second.post(setPrimary(SENDGRID), 'checkout')
  await second.env.clock.advance('25h')
  await first.post(PRIMARY, 'checkout')
  await second.post(PRIMARY, 'checkout')
}
