import { didYouMean } from './suggestions.js'

/** `document` follows the API reference, `live` follows Novu. */
export const PROFILES = ['document', 'live'] as const
export type Profile = (typeof PROFILES)[number]

/**
 * The questions that the API reference leaves open or Novu settles differently, with each profile's
 * value and its effect.
 */
// An environment can override single assumptions, so code checks an assumption, never the profile.
const ASSUMPTIONS = {
  envelope: {
    description:
      'Whether the responses of set-primary and of the step operation are wrapped. ' +
      'The message list never is.',
    document: ['bare', 'the object itself'],
    live: ['data', '`{"data": {…}}`']
  },
  'vendor-names': {
    description: 'How origins and the built-in chat provider are spelled in responses.',
    document: ['documented', '`service-cloud`, `service-cloud-v1`, `service-slack`'],
    live: ['vendor', '`novu-cloud`, `novu-cloud-v1`, `novu-slack`']
  },
  'primary-channels': {
    description: 'Which channels can have a primary integration.',
    document: ['all', 'all five'],
    live: [
      'email-and-sms',
      '`email` and `sms`; others are a 400 `Channel <channel> does not support primary`'
    ]
  },
  'integration-lookup': {
    description: 'What set-primary accepts as `integrationId`.',
    document: ['id-or-identifier', '`_id` in any case, or `identifier`; anything unknown is a 404'],
    live: ['id', 'only `_id`, in any case; anything but 24 hex digits is a 422 on `integrationId`']
  },
  'foreign-integration': {
    description:
      "What set-primary returns for an integration in another environment of the key's " +
      'organization.',
    document: ['not-found', '404, as if it did not exist'],
    live: ['forbidden', '403, which reveals that it exists']
  },
  credentials: {
    description: "Whether an integration's credentials are shown.",
    document: ['stored', 'as stored'],
    live: ['hidden', 'always `{}`, and `configurations` has no `inboundWebhookSigningKey`']
  },
  'unknown-channel-filter': {
    description: 'What the message list returns for an unknown `channel`.',
    document: ['reject', '422 on `channel`'],
    live: ['empty-page', '200, an empty page']
  },
  'unknown-subscriber-filter': {
    description: 'What the message list returns for an unknown `subscriberId`.',
    document: ['empty-page', '200, an empty page'],
    live: ['not-found', '404 `Subscriber not found for id <id>`']
  },
  'malformed-context-key': {
    description: 'What the message list returns for a context key that is not `type:id`.',
    document: ['reject', '422 on `contextKeys`'],
    live: ['empty-page', '200, an empty page']
  },
  'paging-bounds': {
    description: 'Which `page` and `limit` the message list accepts.',
    document: [
      'strict',
      '`page` is a whole number from 0 and `limit` a whole number from 1 to 1000; ' +
        'anything else is a 422 on the field'
    ],
    live: [
      'lenient',
      'a `limit` of 0 or empty means 10; above 1000 it is a 400 ' +
        '`Limit can not be larger then 1000` (sic); ' +
        'anything but a number is a 422 on `general` with the value `No Value Recorded`; ' +
        'Novu accepts fractions and negative numbers, but what it returns is unknown, ' +
        'so they are rejected as in `strict`'
    ]
  },
  'total-count': {
    description: 'Whether the message list returns a total.',
    document: ['present', '`totalCount` is present and `hasMore` is exact'],
    live: [
      'absent',
      'no `totalCount`; `hasMore` is true if the page is full. ' +
        'A feature flag of Novu, off by default, turns `present` on'
    ]
  },
  'embedded-subscriber': {
    description: 'Which fields the subscriber in a message has.',
    document: ['whole', "all of the subscriber's fields"],
    live: [
      'ten-fields',
      '`_id`, `subscriberId`, `firstName`, `lastName`, `avatar`, `createdAt`, `updatedAt`, ' +
        '`_organizationId`, `_environmentId`, `deleted`; no `email`'
    ]
  },
  'step-lookup': {
    description: 'How the step operation reads `workflowId` and `stepId`.',
    document: ['by-kind', 'an `_id` in any case, or a slug of the matching kind, `_wf_` or `_st_`'],
    live: [
      'any-kind',
      'an `_id` in lower case only, or a slug of any kind (`wf`, `st`, `stp`, `env`, `lt`) ' +
        'that has a name and 16 characters'
    ]
  },
  'unknown-step': {
    description: 'What the step operation returns for a step that the workflow does not have.',
    document: ['not-found', '404 `Step with id <stepId> not found`'],
    live: [
      'bad-request',
      '400 `No step found`, with `stepId` and `workflowId` at the top level and in `ctx`'
    ]
  },
  'unknown-workflow': {
    description: 'The message of the 404 for an unknown workflow.',
    document: ['named', '`Workflow with id <workflowId> not found`'],
    live: [
      'with-facts',
      '`Workflow cannot be found`, with `workflowId` at the top level and in `ctx`'
    ]
  },
  'control-values': {
    description: "Which fields hold a step's control values.",
    document: ['once', '`controlValues`, absent if the step has none'],
    live: [
      'twice',
      '`controlValues`, and the same object as `controls.values`; `{}` if the step has none'
    ]
  },
  'idempotency-match': {
    description: 'Who an idempotency key belongs to, and which requests count as the same.',
    document: [
      'request',
      'it belongs to the environment; method, path and body must be the same, otherwise 422'
    ],
    live: [
      'body',
      'it belongs to the organization, so its other environments get the replay too; ' +
        'the body must be the same, otherwise 422'
    ]
  },
  'idempotency-quotes': {
    description: 'Whether double quotes around an idempotency key are part of it.',
    document: ['stripped', 'no: `"a"` and `a` are the same key'],
    live: ['kept', 'yes: the key is the header as it was sent']
  },
  'idempotency-rejections': {
    description: 'What a 409 and a 422 for an idempotency key contain.',
    document: ['plain', 'the 422 has `errors: {}`'],
    live: [
      'linked',
      "both have a `Link` header to Novu's page about idempotency; the 422 has no `errors`"
    ]
  },
  'error-context': {
    description: 'What the `ctx` of an error body contains unless another assumption defines it.',
    document: ['empty', '`{}`'],
    live: [
      'exception',
      '`{"error": …, "statusCode": …}`, but `{}` for invalid fields and for a 500'
    ]
  },
  'unserved-route': {
    description: 'What a request for a path or method that is not mocked returns.',
    document: [
      'explain',
      '501 under `/v1/` and `/v2/`; 405 with `Allow` for the wrong method of a mocked path'
    ],
    live: ['not-found', '404 `Cannot <METHOD> <path>` for both']
  },
  'auth-scheme-case': {
    description: 'Which spellings of the scheme in the `Authorization` header are accepted.',
    document: ['any', '`ApiKey` in any case'],
    live: ['exact', 'exactly `ApiKey`; otherwise 401 `Invalid authentication scheme: "<word>"`']
  }
} as const

type Definitions = typeof ASSUMPTIONS
export type AssumptionId = keyof Definitions

export type Assumptions = { readonly [Id in AssumptionId]: Definitions[Id][Profile][0] }

export const ASSUMPTION_IDS = Object.keys(ASSUMPTIONS) as AssumptionId[]

/** Returns the published form of an assumption: each value's effect, and the value per profile. */
export function describeAssumption(id: AssumptionId) {
  const { description, document, live } = ASSUMPTIONS[id]
  return {
    description,
    values: Object.fromEntries([document, live]),
    document: document[0],
    live: live[0]
  }
}

/** Returns the possible values of an assumption, starting with the profile `document`'s. */
export const valuesOf = (id: AssumptionId): string[] =>
  PROFILES.map((profile) => ASSUMPTIONS[id][profile][0])

/**
 * Returns the values that differ from the profile's. Omits unknown assumptions, which
 * another version may have stored.
 */
export function overridesOf(profile: Profile, assumptions: Assumptions): Record<string, string> {
  const ids = ASSUMPTION_IDS.filter((id) => assumptions[id] !== ASSUMPTIONS[id][profile][0])
  return Object.fromEntries(ids.map((id) => [id, assumptions[id]]))
}

/** Returns what is wrong with an assumption's id or value, or undefined if both are known. */
export function assumptionIssue(id: string, value: string): string | undefined {
  if (!Object.hasOwn(ASSUMPTIONS, id)) {
    const suggestion = didYouMean(id, ASSUMPTION_IDS)
    const hint = suggestion || `; the assumptions are ${ASSUMPTION_IDS.join(', ')}`
    return `there is no assumption ${id}${hint}`
  }
  const values = valuesOf(id as AssumptionId)
  if (values.includes(value)) return undefined
  return `assumption ${id} must be one of ${values.join(', ')}, not ${value || 'nothing'}`
}

/**
 * Returns the profile's values with the overrides applied in order. Doesn't check the overrides.
 */
export function assume(
  profile: Profile,
  ...overrides: readonly Record<string, string>[]
): Assumptions {
  const values = Object.fromEntries(ASSUMPTION_IDS.map((id) => [id, ASSUMPTIONS[id][profile][0]]))
  return Object.freeze(Object.assign(values, ...overrides)) as Assumptions
}

/** Maps a name in the API reference to Novu's, where the two differ. */
export const VENDOR_NAMES: Readonly<Record<string, string>> = {
  'service-cloud': 'novu-cloud',
  'service-cloud-v1': 'novu-cloud-v1',
  'service-slack': 'novu-slack'
}

/**
 * Returns whether a JSON document may need `withVendorNames`. A fast search that can return true
 * without need, but never false by mistake.
 */
export const mayNeedVendorNames = (json: string | Buffer, assumptions: Assumptions): boolean =>
  assumptions['vendor-names'] === 'vendor' && json.includes('"service-')

/** The fields of a step, message or integration that hold a name. Other fields are content. */
interface NameFields {
  origin?: string
  providerId?: string
  subscriber?: { channels?: NameFields[] }
}

/** Replaces the names in a document, in place, by Novu's and returns the document. */
export function withVendorNames<Document extends NameFields>(document: Document): Document {
  const fields: NameFields = document
  for (const field of ['origin', 'providerId'] as const) {
    const name = fields[field] ?? ''
    if (Object.hasOwn(VENDOR_NAMES, name)) fields[field] = VENDOR_NAMES[name] ?? name
  }
  for (const channel of fields.subscriber?.channels ?? []) withVendorNames(channel)
  return document
}
