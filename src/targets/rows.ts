import { randomUUID } from 'node:crypto'
import { type AssumptionId, assumptionRow, type Profile } from '../core/assumptions.js'
import { StartError } from '../core/errors.js'
import { isObject, NO_PRIMARY, needed, Skipped } from './answers.js'
import { setPrimaryPath, unknownId } from './paths.js'
import { READING_ROWS } from './reading-rows.js'
import { differ, inDocument, isEmpty, isOnOneSide, neither, positionOf, type Row } from './row.js'
import type { Subject } from './subject.js'

/** All that is known of each row of the register: how to find out the position that a target takes, and what it explains. */
export const ROWS: Record<AssumptionId, Row> = {
  ...READING_ROWS,
  'primary-channels': {
    async probe({ integrations }) {
      for (const { answer, integration } of await integrations.all()) {
        if (integration && !['email', 'sms'].includes(integration.channel)) return 'document'
        if (!integration) return positionOf(answer, { live: [400, NO_PRIMARY] })
      }
      throw new Skipped('no integration of another channel than email and sms is known')
    },
    explains: differ('set-primary', 200, 400)
  },
  'integration-lookup': {
    async probe({ ask }) {
      const answer = await ask(setPrimaryPath('conformance-none'), { method: 'POST' })
      return positionOf(answer, { document: [404], live: [422] })
    },
    explains: differ('set-primary', 422, 200, 404),
    documented: inDocument(/primary$/, /^status 422$/)
  },
  'foreign-integration': {
    async probe({ integrations, options }) {
      const id = options.foreignIntegration ?? ''
      needed(id !== '', 'no integration of another environment was named', '--foreign-integration <id>')
      return positionOf(await integrations.set(id), { document: [404], live: [403] })
    },
    explains: differ('set-primary', 403, 404),
    documented: inDocument(/primary$/, /^status 403$/)
  },
  credentials: {
    async probe({ integrations }) {
      const shown = await integrations.usable()
      // That none are shown may be the other position, or their lack.
      const isAny = shown.some(
        ({ credentials, configurations }) =>
          !isEmpty(credentials ?? {}) || configurations?.inboundWebhookSigningKey !== undefined
      )
      needed(isAny, 'no credentials were shown: they are hidden, or there are none')
      return 'document'
    },
    explains: ({ operation, bodies, difference }) =>
      operation === 'set-primary' &&
      isOnOneSide(difference) &&
      (/^(data[.])?configurations[.]inboundWebhookSigningKey$/.test(difference.field) ||
        (/^(data[.])?credentials\b/.test(difference.field) && bodies.some(({ credentials }) => isEmpty(credentials)))),
    documented: inDocument(/primary$/, /^body\.credentials\b|\.inboundWebhookSigningKey$/)
  },
  'idempotency-match': {
    async probe({ integrations }) {
      const headers = { 'idempotency-key': randomUUID() }
      const first = await integrations.set(unknownId(), { headers })
      const second = await integrations.set(unknownId(), { headers })
      const position = positionOf(second, { document: [422, /reused/], live: [first.status] })
      if (position === 'live' && second.text !== first.text) throw neither('it is answered afresh', second)
      return position
    }
  },
  'idempotency-quotes': {
    async probe({ integrations }) {
      const key = randomUUID()
      const answer = await integrations.set(unknownId(), { headers: { 'idempotency-key': `"${key}"` } })
      const told = answer.headers.get('idempotency-key')
      if (told !== key && told !== `"${key}"`) throw neither('Idempotency-Key is not that of the request', answer)
      return told === key ? 'document' : 'live'
    }
  },
  'idempotency-refusals': {
    async probe({ integrations }) {
      const headers = { 'idempotency-key': randomUUID() }
      const id = unknownId()
      await integrations.set(id, { headers })
      const answer = await integrations.set(id, { headers, body: 'another' })
      positionOf(answer, { document: [422, /reused/] }, true)
      const hasErrors = isObject(answer.body) && answer.body.errors !== undefined
      if (hasErrors === answer.headers.has('link')) throw neither('it has both errors and Link, or neither', answer)
      return hasErrors ? 'document' : 'live'
    },
    explains: ({ operation, difference: { field } }) => operation === 'set-primary' && field === 'errors',
    documented: inDocument(/primary$/, /^status 4\d\d header link$/)
  }
}

/** The positions that a target was seen to take. */
export type Positions = Partial<Record<AssumptionId, Profile>>

/** Finds out the position that a target takes in each row that shows by reading. What is neither position shows nothing. */
export async function readPositions(subject: Subject): Promise<Positions> {
  const found: Positions = {}
  for (const [id, { probe }] of Object.entries(READING_ROWS)) {
    const position = await probe(subject).catch((error: Error) => {
      if (error instanceof StartError) throw error
    })
    if (position) found[id as AssumptionId] = position
  }
  return found
}

/** Returns positions as the register calls them. */
export function namesOf(positions: Positions): Record<string, string> {
  const entries = Object.entries(positions) as [AssumptionId, Profile][]
  return Object.fromEntries(entries.map(([id, position]) => [id, assumptionRow(id)[position]]))
}

/** Returns the profile that most of the positions are of: `document`, when as many are of either. */
export function nearestProfile(positions: readonly Profile[]): Profile {
  return 2 * positions.filter((position) => position === 'live').length > positions.length ? 'live' : 'document'
}
