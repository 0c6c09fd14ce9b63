import { suggest } from './suggest.js'

/** What the two profiles are: `document` follows the contract, `live` follows the deployed service. */
export const PROFILES = ['document', 'live'] as const
export type Profile = (typeof PROFILES)[number]

interface Assumption {
  /** The question that it settles. */
  sentence: string
  /** The positions, and what each does. */
  values: Record<string, string>
  document: string
  live: string
}

/**
 * All that a client could notice and that the contract leaves open, or that the deployed service does differently. An
 * environment has a profile and may override single rows. Code asks for a row by its id and never for the profile.
 */
export const REGISTER = {
  envelope: {
    sentence: 'Whether the answers of set-primary and of the step operation are wrapped. The message list never is.',
    values: { bare: 'the object itself', data: '`{"data": {…}}`' },
    document: 'bare',
    live: 'data'
  },
  'vendor-names': {
    sentence: 'How origins and the built-in chat provider are spelled in answers.',
    values: {
      contract: '`service-cloud`, `service-cloud-v1`, `service-slack`',
      vendor: '`novu-cloud`, `novu-cloud-v1`, `novu-slack`'
    },
    document: 'contract',
    live: 'vendor'
  },
  'primary-channels': {
    sentence: 'Which channels can have a primary integration.',
    values: {
      all: 'all five',
      'email-and-sms': '`email` and `sms`; others 400 `Channel <channel> does not support primary`'
    },
    document: 'all',
    live: 'email-and-sms'
  },
  'integration-lookup': {
    sentence: 'What set-primary accepts as `integrationId`.',
    values: {
      'id-or-identifier': '`_id` or `identifier`; unknown 404',
      id: '`_id` only; what is not 24 hex digits is a 422 on `integrationId`'
    },
    document: 'id-or-identifier',
    live: 'id'
  },
  'foreign-integration': {
    sentence: "How set-primary answers for an integration in another environment of the key's organisation.",
    values: { 'not-found': '404, as if it did not exist', forbidden: '403, which reveals that it exists' },
    document: 'not-found',
    live: 'forbidden'
  },
  credentials: {
    sentence: "Whether an integration's credentials are shown.",
    values: {
      stored: 'as stored',
      hidden: '`{}` always, and `configurations` without `inboundWebhookSigningKey`'
    },
    document: 'stored',
    live: 'hidden'
  },
  'unknown-channel-filter': {
    sentence: 'How the message list answers an unknown `channel`.',
    values: { refuse: '422 on `channel`', 'empty-page': '200, an empty page' },
    document: 'refuse',
    live: 'empty-page'
  },
  'unknown-subscriber-filter': {
    sentence: 'How the message list answers an unknown `subscriberId`.',
    values: { 'empty-page': '200, an empty page', 'not-found': '404 `Subscriber not found for id <id>`' },
    document: 'empty-page',
    live: 'not-found'
  },
  'malformed-context-key': {
    sentence: 'How the message list answers a context key that is not `type:id`.',
    values: { refuse: '422 on `contextKeys`', 'empty-page': '200, an empty page' },
    document: 'refuse',
    live: 'empty-page'
  },
  'paging-bounds': {
    sentence: 'Which `page` and `limit` the message list accepts.',
    values: {
      strict: '`page` a whole number from 0, `limit` a whole number from 1 to 1000, else 422 on the field',
      lenient: '`limit` 0 or empty means 10; above 1000: 400 `Limit can not be larger then 1000` (sic); else as strict'
    },
    document: 'strict',
    live: 'lenient'
  },
  'total-count': {
    sentence: 'Whether the message list returns a total.',
    values: {
      present: '`totalCount` is present and `hasMore` is exact',
      absent: 'no `totalCount`; `hasMore` is true when the page is full'
    },
    document: 'present',
    live: 'absent'
  },
  'unknown-step': {
    sentence: 'How a step that the workflow does not have is answered.',
    values: {
      'not-found': '404 `Step with id <stepId> not found`',
      'bad-request': '400 `No step found`, with `stepId` and `workflowId` at the top level and in `ctx`'
    },
    document: 'not-found',
    live: 'bad-request'
  },
  'unknown-workflow': {
    sentence: 'How the 404 for an unknown workflow is worded.',
    values: {
      named: '`Workflow with id <workflowId> not found`',
      'with-facts': '`Workflow cannot be found`, with `workflowId` at the top level and in `ctx`'
    },
    document: 'named',
    live: 'with-facts'
  },
  'control-values': {
    sentence: "Which fields hold a step's control values.",
    values: { once: '`controlValues`', twice: '`controlValues`, and the same object as `controls.values`' },
    document: 'once',
    live: 'twice'
  },
  'idempotency-match': {
    sentence: 'Who an idempotency key belongs to, and which requests count as the same.',
    values: {
      request: 'the environment; the same method, path and body, else 422',
      body: 'the organisation, so that its other environments replay it too; the same body, else 422'
    },
    document: 'request',
    live: 'body'
  },
  'unserved-route': {
    sentence: 'How a request for a path or method that is not served is answered.',
    values: {
      explain: '501 under `/v1/` and `/v2/`, 405 with `Allow` for a wrong method on a served path',
      'not-found': '404 `Cannot <METHOD> <path>` for both'
    },
    document: 'explain',
    live: 'not-found'
  },
  'auth-scheme-case': {
    sentence: 'Which spellings of the scheme in the `Authorization` header are accepted.',
    values: {
      any: '`ApiKey` in any case',
      exact: 'exactly `ApiKey`; otherwise 401 `Invalid authentication scheme: "<word>"`'
    },
    document: 'any',
    live: 'exact'
  }
} as const satisfies Record<string, Assumption>

export type AssumptionId = keyof typeof REGISTER

/** The position of every row, for one environment. */
export type Assumptions = { readonly [Id in AssumptionId]: keyof (typeof REGISTER)[Id]['values'] }

export const ASSUMPTION_IDS = Object.keys(REGISTER) as AssumptionId[]

/** Returns the positions of a row, that of the profile `document` first. */
export function positionsOf(id: AssumptionId): string[] {
  return Object.keys(REGISTER[id].values)
}

/** Returns whether there is such a row with such a position. */
export function isPosition(id: string, value: string): boolean {
  return Object.hasOwn(REGISTER, id) && positionsOf(id as AssumptionId).includes(value)
}

/** Returns what is wrong with an assumption's id or value, or undefined when both are known. */
export function assumptionComplaint(id: string, value: string): string | undefined {
  if (isPosition(id, value)) return undefined
  if (Object.hasOwn(REGISTER, id)) {
    return `assumption ${id} must be one of ${positionsOf(id as AssumptionId).join(', ')}, not ${value || 'nothing'}`
  }
  const meant = suggest(id, ASSUMPTION_IDS)
  return `there is no assumption ${id}; ${meant ? `did you mean ${meant}?` : `there are ${ASSUMPTION_IDS.join(', ')}`}`
}

/** Returns the positions of the profile, except where overrides say otherwise; later ones win. They are not checked. */
export function assume(profile: Profile, ...overrides: readonly Record<string, string>[]): Assumptions {
  const positions = Object.fromEntries(ASSUMPTION_IDS.map((id) => [id, REGISTER[id][profile]]))
  return Object.freeze(Object.assign(positions, ...overrides)) as Assumptions
}
