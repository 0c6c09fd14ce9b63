import { suggest } from './suggest.js'

/** What the two profiles are: `document` follows the contract, `live` follows the deployed service. */
export const PROFILES = ['document', 'live'] as const
export type Profile = (typeof PROFILES)[number]

interface Assumption {
  /** What is left open. */
  sentence: string
  /** The positions of the switch, and what each does. */
  values: Record<string, string>
  document: string
  live: string
}

/**
 * The register: everything that a client could notice and that the contract leaves open, or that the deployed service
 * does otherwise. An environment has a profile and may override single rows. Code asks for a row by its id, and no
 * other condition on the profile stands anywhere.
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
    sentence: 'What set-primary takes as `integrationId`.',
    values: {
      'id-or-identifier': '`_id` or `identifier`; unknown 404',
      id: '`_id` only; what is not 24 hex digits is a 422 on `integrationId`'
    },
    document: 'id-or-identifier',
    live: 'id'
  },
  'foreign-integration': {
    sentence: "What set-primary says of an integration in another environment of the key's organisation.",
    values: { 'not-found': '404, as if absent', forbidden: '403, which says so' },
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
    sentence: 'What a `channel` outside the five does to the message list.',
    values: { refuse: '422 on `channel`', 'empty-page': '200, an empty page' },
    document: 'refuse',
    live: 'empty-page'
  },
  'unknown-subscriber-filter': {
    sentence: 'What a `subscriberId` that nobody has does to the message list.',
    values: { 'empty-page': '200, an empty page', 'not-found': '404 `Subscriber not found for id <id>`' },
    document: 'empty-page',
    live: 'not-found'
  },
  'malformed-context-key': {
    sentence: 'What a context key that is not `type:id` does to the message list.',
    values: { refuse: '422 on `contextKeys`', 'empty-page': '200, an empty page' },
    document: 'refuse',
    live: 'empty-page'
  },
  'paging-bounds': {
    sentence: 'Which `page` and `limit` are taken.',
    values: {
      strict: '`page` a whole number from 0, `limit` a whole number from 1 to 1000, else 422 on the field',
      lenient: '`limit` 0 or empty means 10; above 1000: 400 `Limit can not be larger then 1000` (sic); else as strict'
    },
    document: 'strict',
    live: 'lenient'
  },
  'total-count': {
    sentence: 'Whether the message list counts.',
    values: {
      present: '`totalCount` is there and `hasMore` is exact',
      absent: 'no `totalCount`, and `hasMore` says that the page is full'
    },
    document: 'present',
    live: 'absent'
  },
  'unknown-step': {
    sentence: 'What a step that the workflow does not have is answered with.',
    values: {
      'not-found': '404 `Step with id <stepId> not found`',
      'bad-request': '400 `No step found`, with `stepId` and `workflowId` at the top level and in `ctx`'
    },
    document: 'not-found',
    live: 'bad-request'
  },
  'unknown-workflow': {
    sentence: 'How a workflow that the environment does not have is worded, a 404 in both.',
    values: {
      named: '`Workflow with id <workflowId> not found`',
      'with-facts': '`Workflow cannot be found`, with `workflowId` at the top level and in `ctx`'
    },
    document: 'named',
    live: 'with-facts'
  },
  'control-values': {
    sentence: "Where a step's control values stand.",
    values: { once: '`controlValues`', twice: '`controlValues`, and the same object as `controls.values`' },
    document: 'once',
    live: 'twice'
  },
  'idempotency-match': {
    sentence: 'Whom an idempotency key belongs to, and when a request is the same again.',
    values: {
      request: 'the environment; the same method, path and body, else 422',
      body: 'the organisation, so that its other environments replay it too; the same body, else 422'
    },
    document: 'request',
    live: 'body'
  },
  'idempotency-empty-body': {
    sentence: 'Whether no body, an empty one and `{}` are the same body under one idempotency key.',
    values: { same: 'they are: the operation takes no body', bytes: 'they are not: bytes are compared' },
    document: 'same',
    live: 'same'
  },
  'idempotency-errors': {
    sentence: 'Which answers an idempotency key replays. Never 401, 429, 5xx or an injected fault.',
    values: {
      all: 'every answer of the operation, refusals (400, 403, 404, 422) too',
      success: 'only a success; a refused request may be sent again under its key'
    },
    document: 'all',
    live: 'all'
  },
  'unserved-route': {
    sentence: 'What a request to a path or method that is not one of the three operations is answered with.',
    values: {
      explain: '501 under `/v1/` and `/v2/`, 405 with `Allow` for a wrong method on a served path',
      'not-found': '404 `Cannot <METHOD> <path>` for both'
    },
    document: 'explain',
    live: 'not-found'
  },
  'auth-scheme-case': {
    sentence: 'How the scheme of the `Authorization` header may be written.',
    values: {
      any: '`ApiKey` in any case',
      exact: 'exactly `ApiKey`; otherwise 401 `Invalid authentication scheme: "<word>"`'
    },
    document: 'any',
    live: 'exact'
  }
} as const satisfies Record<string, Assumption>

export type AssumptionId = keyof typeof REGISTER

/** The position of every switch, for one environment. */
export type Assumptions = { readonly [Id in AssumptionId]: keyof (typeof REGISTER)[Id]['values'] }

export const ASSUMPTION_IDS = Object.keys(REGISTER) as AssumptionId[]

/** The positions of a row's switch, the profile `document`'s first. */
export function positionsOf(id: AssumptionId): string[] {
  return Object.keys(REGISTER[id].values)
}

/** Whether `id=value` names a row and one of its positions. */
export function isPosition(id: string, value: string): boolean {
  return Object.hasOwn(REGISTER, id) && positionsOf(id as AssumptionId).includes(value)
}

/** What is wrong with an assumption's id or value, or undefined. */
export function assumptionComplaint(id: string, value: string): string | undefined {
  if (isPosition(id, value)) return undefined
  if (Object.hasOwn(REGISTER, id)) {
    return `assumption ${id} must be one of ${positionsOf(id as AssumptionId).join(', ')}, not ${value || 'nothing'}`
  }
  const meant = suggest(id, ASSUMPTION_IDS)
  return `there is no assumption ${id}; ${meant ? `did you mean ${meant}?` : `there are ${ASSUMPTION_IDS.join(', ')}`}`
}

/** The profile's positions with overrides laid over them, later ones winning. Overrides must have been checked. */
export function assume(profile: Profile, ...overrides: readonly Record<string, string>[]): Assumptions {
  const positions = Object.fromEntries(ASSUMPTION_IDS.map((id) => [id, REGISTER[id][profile]]))
  return Object.freeze(Object.assign(positions, ...overrides)) as Assumptions
}
