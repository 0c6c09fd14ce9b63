import { didYouMean } from './suggestions.js'

/** What the two profiles are: `document` follows the contract, `live` follows the deployed service. */
export const PROFILES = ['document', 'live'] as const
export type Profile = (typeof PROFILES)[number]

/** What the contract leaves open or the deployed service does differently, with either profile's position and what it does. */
// An environment has a profile and may override single rows: code asks for a row by its id and never for the profile.
const ROWS = {
  envelope: {
    description:
      'Whether the answers of set-primary and of the step operation are wrapped. The message list never is.',
    document: ['bare', 'the object itself'],
    live: ['data', '`{"data": {…}}`']
  },
  'vendor-names': {
    description: 'How origins and the built-in chat provider are spelled in answers.',
    document: ['documented', '`service-cloud`, `service-cloud-v1`, `service-slack`'],
    live: ['vendor', '`novu-cloud`, `novu-cloud-v1`, `novu-slack`']
  },
  'primary-channels': {
    description: 'Which channels can have a primary integration.',
    document: ['all', 'all five'],
    live: [
      'email-and-sms',
      '`email` and `sms`; others 400 `Channel <channel> does not support primary`'
    ]
  },
  'integration-lookup': {
    description: 'What set-primary accepts as `integrationId`.',
    document: [
      'id-or-identifier',
      '`_id`, also in capitals as in the paths of steps, or `identifier`; unknown 404'
    ],
    live: [
      'id',
      '`_id` only, also in capitals; what is not 24 hex digits is a 422 on `integrationId`'
    ]
  },
  'foreign-integration': {
    description:
      "How set-primary answers for an integration in another environment of the key's organization.",
    document: ['not-found', '404, as if it did not exist'],
    live: ['forbidden', '403, which reveals that it exists']
  },
  credentials: {
    description: "Whether an integration's credentials are shown.",
    document: ['stored', 'as stored'],
    live: ['hidden', '`{}` always, and `configurations` without `inboundWebhookSigningKey`']
  },
  'unknown-channel-filter': {
    description: 'How the message list answers an unknown `channel`.',
    document: ['reject', '422 on `channel`'],
    live: ['empty-page', '200, an empty page']
  },
  'unknown-subscriber-filter': {
    description: 'How the message list answers an unknown `subscriberId`.',
    document: ['empty-page', '200, an empty page'],
    live: ['not-found', '404 `Subscriber not found for id <id>`']
  },
  'malformed-context-key': {
    description: 'How the message list answers a context key that is not `type:id`.',
    document: ['reject', '422 on `contextKeys`'],
    live: ['empty-page', '200, an empty page']
  },
  'paging-bounds': {
    description: 'Which `page` and `limit` the message list accepts.',
    document: [
      'strict',
      '`page` a whole number from 0, `limit` a whole number from 1 to 1000, else 422 on the field'
    ],
    live: [
      'lenient',
      '`limit` 0 or empty means 10; above 1000: 400 `Limit can not be larger then 1000` (sic); not a number: 422 on `general`, with the value `No Value Recorded`; fractions and negative numbers pass there, what they answer is unknown: as strict'
    ]
  },
  'total-count': {
    description: 'Whether the message list returns a total.',
    document: ['present', '`totalCount` is present and `hasMore` is exact'],
    live: [
      'absent',
      'no `totalCount`; `hasMore` is true when the page is full. A feature flag, off by default, makes it answer as present'
    ]
  },
  'embedded-subscriber': {
    description: 'Which fields the subscriber in a message has.',
    document: ['whole', 'all of the subscriber'],
    live: [
      'ten-fields',
      '`_id`, `subscriberId`, `firstName`, `lastName`, `avatar`, `createdAt`, `updatedAt`, `_organizationId`, `_environmentId`, `deleted`; no `email`'
    ]
  },
  'step-lookup': {
    description: 'How the step operation reads `workflowId` and `stepId`.',
    document: ['by-kind', 'an `_id` also in capitals; a slug whose kind fits, `_wf_` or `_st_`'],
    live: [
      'any-kind',
      'an `_id` as it is, in capitals not found; a slug of any kind (`wf`, `st`, `stp`, `env`, `lt`), with a name and 16 characters'
    ]
  },
  'unknown-step': {
    description: 'How a step that the workflow does not have is answered.',
    document: ['not-found', '404 `Step with id <stepId> not found`'],
    live: [
      'bad-request',
      '400 `No step found`, with `stepId` and `workflowId` at the top level and in `ctx`'
    ]
  },
  'unknown-workflow': {
    description: 'How the 404 for an unknown workflow is worded.',
    document: ['named', '`Workflow with id <workflowId> not found`'],
    live: [
      'with-facts',
      '`Workflow cannot be found`, with `workflowId` at the top level and in `ctx`'
    ]
  },
  'control-values': {
    description: "Which fields hold a step's control values.",
    document: ['once', '`controlValues`, absent where there are none'],
    live: [
      'twice',
      '`controlValues`, and the same object as `controls.values`; `{}` where there are none'
    ]
  },
  'idempotency-match': {
    description: 'Who an idempotency key belongs to, and which requests count as the same.',
    document: ['request', 'the environment; the same method, path and body, else 422'],
    live: [
      'body',
      'the organization, so that its other environments replay it too; the same body, else 422'
    ]
  },
  'idempotency-quotes': {
    description: 'Whether double quotes around an idempotency key are part of it.',
    document: ['stripped', 'no: `"a"` and `a` are one key'],
    live: ['kept', 'yes: the key is the header as it was sent']
  },
  'idempotency-rejections': {
    description: 'What a 409 and a 422 about an idempotency key have.',
    document: ['plain', 'the 422 has `errors: {}`'],
    live: [
      'linked',
      'both have a header `Link`, to the documentation of idempotency; the 422 has no `errors`'
    ]
  },
  'error-context': {
    description: 'What the `ctx` of an error body holds where no other row says it.',
    document: ['empty', '`{}`'],
    live: ['exception', '`{"error": …, "statusCode": …}`; `{}` of invalid fields and of a 500']
  },
  'unserved-route': {
    description: 'How a request for a path or method that is not served is answered.',
    document: [
      'explain',
      '501 under `/v1/` and `/v2/`, 405 with `Allow` for a wrong method on a served path'
    ],
    live: ['not-found', '404 `Cannot <METHOD> <path>` for both']
  },
  'auth-scheme-case': {
    description: 'Which spellings of the scheme in the `Authorization` header are accepted.',
    document: ['any', '`ApiKey` in any case'],
    live: ['exact', 'exactly `ApiKey`; otherwise 401 `Invalid authentication scheme: "<word>"`']
  }
} as const

type Rows = typeof ROWS
export type AssumptionId = keyof Rows

export type Assumptions = { readonly [Id in AssumptionId]: Rows[Id][Profile][0] }

export const ASSUMPTION_IDS = Object.keys(ROWS) as AssumptionId[]

/** Returns a row as it is published: its positions with what each does, and those of the profiles. */
export function describeAssumption(id: AssumptionId) {
  const { description, document, live } = ROWS[id]
  return {
    description,
    values: Object.fromEntries([document, live]),
    document: document[0],
    live: live[0]
  }
}

/** Returns the positions of a row, that of the profile `document` first. */
export const valuesOf = (id: AssumptionId): string[] =>
  PROFILES.map((profile) => ROWS[id][profile][0])

/** Returns the positions that are not those of the profile, without rows that another version has stored. */
export function overridesOf(profile: Profile, assumptions: Assumptions): Record<string, string> {
  const others = ASSUMPTION_IDS.filter((id) => assumptions[id] !== ROWS[id][profile][0])
  return Object.fromEntries(others.map((id) => [id, assumptions[id]]))
}

/** Returns what is wrong with an assumption's id or value, or undefined when both are known. */
export function assumptionIssue(id: string, value: string): string | undefined {
  const positions = Object.hasOwn(ROWS, id) ? valuesOf(id as AssumptionId) : undefined
  if (positions?.includes(value)) return undefined
  if (positions)
    return `assumption ${id} must be one of ${positions.join(', ')}, not ${value || 'nothing'}`
  return `there is no assumption ${id}${didYouMean(id, ASSUMPTION_IDS) || `; there are ${ASSUMPTION_IDS.join(', ')}`}`
}

/** Returns the positions of the profile, except where overrides say otherwise; later ones win. They are not checked. */
export function assume(
  profile: Profile,
  ...overrides: readonly Record<string, string>[]
): Assumptions {
  const positions = Object.fromEntries(ASSUMPTION_IDS.map((id) => [id, ROWS[id][profile][0]]))
  return Object.freeze(Object.assign(positions, ...overrides)) as Assumptions
}

/** The contract's word -> the deployed service's, where the two differ. */
export const VENDOR_NAMES: Readonly<Record<string, string>> = {
  'service-cloud': 'novu-cloud',
  'service-cloud-v1': 'novu-cloud-v1',
  'service-slack': 'novu-slack'
}

/** Whether a document, as JSON, may need `withVendorNames`: it is cheap, and may say yes without need. */
export const mayNeedVendorNames = (json: string | Buffer, assumptions: Assumptions): boolean =>
  assumptions['vendor-names'] === 'vendor' && json.includes('"service-')

/** The fields of a step, message or integration that hold a name. In any other field the same text is content. */
interface NameFields {
  origin?: string
  providerId?: string
  subscriber?: { channels?: NameFields[] }
}

/** Changes the names in a document to those of the deployed service, and returns it. */
export function withVendorNames<Document extends NameFields>(document: Document): Document {
  const fields: NameFields = document
  for (const field of ['origin', 'providerId'] as const) {
    const name = fields[field] ?? ''
    if (Object.hasOwn(VENDOR_NAMES, name)) fields[field] = VENDOR_NAMES[name] ?? name
  }
  for (const channel of fields.subscriber?.channels ?? []) withVendorNames(channel)
  return document
}
