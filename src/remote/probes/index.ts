import { randomUUID } from 'node:crypto'
import { type AssumptionId, describeAssumption, type Profile } from '../../domain/assumptions.js'
import { StartError } from '../../domain/errors.js'
import { isObject } from '../../schema/validation.js'
import { setPrimaryPath, unknownId } from '../paths.js'
import { NO_PRIMARY, Skipped, skipUnless } from '../response-checks.js'
import type { ServiceUnderTest } from '../service-under-test.js'
import {
  type AssumptionProbe,
  detectByRequest,
  explainStatuses,
  isEmpty,
  isOnOneSide,
  matchProfile,
  unexpectedResponse
} from './assumption-probe.js'
import { readOnlyProbes } from './read-only-probes.js'

/** The probe of each assumption. */
export const assumptionProbes: Record<AssumptionId, AssumptionProbe> = {
  ...readOnlyProbes,
  'primary-channels': {
    async detect({ integrations }) {
      for (const { response, integration } of await integrations.all()) {
        if (integration && !['email', 'sms'].includes(integration.channel)) return 'document'
        if (!integration) return matchProfile(response, { live: [400, NO_PRIMARY] })
      }
      throw new Skipped('all known integrations belong to the email or sms channel')
    },
    explainsResponse: explainStatuses('set-primary', 200, 400)
  },
  'integration-lookup': {
    detect: detectByRequest(
      setPrimaryPath('conformance-none'),
      { document: [404], live: [422] },
      { method: 'POST' }
    ),
    explainsResponse: explainStatuses('set-primary', 422, 200, 404)
  },
  'foreign-integration': {
    async detect({ integrations, options }) {
      const id = options.foreignIntegration ?? ''
      const reason = 'no integration id from another environment was given'
      skipUnless(id !== '', reason, '--foreign-integration <id>')
      const response = await integrations.setPrimary(id)
      return matchProfile(response, { document: [404], live: [403] })
    },
    explainsResponse: explainStatuses('set-primary', 403, 404)
  },
  credentials: {
    async detect({ integrations }) {
      const hasCredentials = (await integrations.usable()).some(
        ({ credentials, configurations }) =>
          !isEmpty(credentials ?? {}) || configurations?.inboundWebhookSigningKey !== undefined
      )
      skipUnless(hasCredentials, 'no response has credentials: the target hides them or has none')
      return 'document'
    },
    explainsResponse: ({ operation, bodies, difference }) =>
      operation === 'set-primary' &&
      isOnOneSide(difference) &&
      (/^(data[.])?configurations[.]inboundWebhookSigningKey$/.test(difference.field) ||
        (/^(data[.])?credentials\b/.test(difference.field) &&
          bodies.some(({ credentials }) => isEmpty(credentials))))
  },
  'idempotency-match': {
    async detect({ integrations }) {
      const headers = { 'idempotency-key': randomUUID() }
      const first = await integrations.setPrimary(unknownId(), { headers })
      const second = await integrations.setPrimary(unknownId(), { headers })
      const expected = { document: [422, /reused/], live: [first.status] } as const
      const profile = matchProfile(second, expected)
      if (profile === 'live' && second.text !== first.text)
        throw unexpectedResponse('the response is not a replay', second)
      return profile
    }
  },
  'idempotency-quotes': {
    async detect({ integrations }) {
      const key = randomUUID()
      const headers = { 'idempotency-key': `"${key}"` }
      const response = await integrations.setPrimary(unknownId(), { headers })
      const returnedKey = response.headers.get('idempotency-key')
      if (returnedKey === key) return 'document'
      if (returnedKey === `"${key}"`) return 'live'
      throw unexpectedResponse('the response has a different Idempotency-Key', response)
    }
  },
  'idempotency-rejections': {
    async detect({ integrations }) {
      const headers = { 'idempotency-key': randomUUID() }
      const id = unknownId()
      await integrations.setPrimary(id, { headers })
      const response = await integrations.setPrimary(id, { headers, body: 'another' })
      matchProfile(response, { document: [422, /reused/] }, { mayBe200: true })
      const hasErrors = isObject(response.body) && response.body.errors !== undefined
      if (hasErrors === response.headers.has('link'))
        throw unexpectedResponse('the 422 must have either `errors` or a Link header', response)
      return hasErrors ? 'document' : 'live'
    },
    explainsResponse: ({ operation, difference: { field } }) =>
      operation === 'set-primary' && field === 'errors'
  }
}

/** For each detected assumption, the profile that the target behaves like. */
export type DetectedProfiles = Partial<Record<AssumptionId, Profile>>

/**
 * Detects the profile of each assumption with read-only requests. Omits assumptions that need other
 * requests, or whose probe fails.
 */
export async function detectProfiles(service: ServiceUnderTest): Promise<DetectedProfiles> {
  const detected: DetectedProfiles = {}
  for (const [id, { detect }] of Object.entries(readOnlyProbes)) {
    try {
      detected[id as AssumptionId] = await detect(service)
    } catch (error) {
      // `StartError` ends the run. After any other error, the assumption's value stays unknown.
      if (error instanceof StartError) throw error
    }
  }
  return detected
}

/** Returns the value of each detected assumption, as accepted by `--assume`. */
export function valuesOfProfiles(detected: DetectedProfiles): Record<string, string> {
  const entries = Object.entries(detected) as [AssumptionId, Profile][]
  return Object.fromEntries(entries.map(([id, profile]) => [id, describeAssumption(id)[profile]]))
}

/** Returns the more frequent profile, or `document` if both are equally frequent. */
export function nearestProfile(profiles: readonly Profile[]): Profile {
  const liveCount = profiles.filter((profile) => profile === 'live').length
  return 2 * liveCount > profiles.length ? 'live' : 'document'
}
