import { pino } from 'pino'
import { afterAll, beforeAll } from 'vitest'
import { startMock, type TestMock, type TestMockOptions, useNewMock } from './mock.js'

/** API keys in the seed. They must not appear in any response or log line. */
export const KEYS = { shop: 'shop-key-6f1c', second: 'shop-key-again-9d2e', live: 'live-key-83ab' }

export const SEED = {
  environments: [
    {
      name: 'Shop',
      apiKeys: [KEYS.shop, KEYS.second],
      integrations: [
        { identifier: 'sendgrid', providerId: 'sendgrid', channel: 'email', primary: true },
        { identifier: 'mailgun', providerId: 'mailgun', channel: 'email', active: false }
      ],
      subscribers: [{ subscriberId: 'ada', email: 'ada@example.com' }],
      workflows: [{ identifier: 'shipped', steps: [{ type: 'email' }] }],
      messages: [
        {
          channel: 'email',
          subscriberId: 'ada',
          transactionId: 'one',
          contextKeys: ['tenant:a', 'region:b']
        },
        { channel: 'email', subscriberId: 'ada', transactionId: 'two' },
        { channel: 'sms', transactionId: 'three,four' }
      ]
    },
    {
      name: 'Live',
      profile: 'live',
      apiKeys: [KEYS.live],
      integrations: [{ identifier: 'twilio', providerId: 'twilio', channel: 'sms' }],
      messages: [{ channel: 'sms', transactionId: 'one' }]
    }
  ]
}

export type LogLine = Record<string, unknown> & { msg: string }

export interface LoggedMock extends TestMock {
  /** All log lines of the server, at all levels. */
  log: LogLine[]
}

/** Starts a server with one environment per profile, and records its log. */
export async function useLoggedMock(options: TestMockOptions = {}): Promise<LoggedMock> {
  const { log, logger } = logging()
  return { ...(await useNewMock({ seed: SEED, logger, ...options })), log }
}

/**
 * Starts one server for all tests of a group, and records its log. Returns a function that returns
 * the server.
 */
export function useLoggedMockOfGroup(): () => LoggedMock {
  let mock: LoggedMock
  beforeAll(async () => {
    const { log, logger } = logging()
    mock = { ...(await startMock({ seed: SEED, logger })), log }
  })
  afterAll(() => mock.app.close())
  return () => mock
}

function logging() {
  const log: LogLine[] = []
  const logger = pino(
    { level: 'trace' },
    {
      write: (line: string) => {
        log.push(JSON.parse(line))
      }
    }
  )
  return { log, logger }
}
