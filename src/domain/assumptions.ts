import { didYouMean } from './suggestions.js'

/** The profile `document` follows the API reference; `live` follows the behavior of Novu. */
export const PROFILES = ['document', 'live'] as const
export type Profile = (typeof PROFILES)[number]

/**
 * Each assumption is a decision about behavior that the API reference doesn't define, or in which
 * Novu differs from the API reference. An assumption has one value per profile. Each value has a
 * description of its effect.
 */
// Code must check the assumption's value, never the profile, because an environment can override
// the profile's value of an assumption.
const ASSUMPTIONS = {
  envelope: {
    description:
      'Whether set-primary and the step operation wrap their response. ' +
      'The message list is never wrapped.',
    document: ['bare', 'only the object'],
    live: ['data', '`{"data": {…}}`']
  },
  'vendor-names': {
    description:
      'Whether origins and the built-in chat provider have the names from the API reference or ' +
      "Novu's own names.",
    document: ['documented', '`service-cloud`, `service-cloud-v1`, `service-slack`'],
    live: ['vendor', '`novu-cloud`, `novu-cloud-v1`, `novu-slack`']
  },
  'primary-channels': {
    description: 'Which channels can have a primary integration.',
    document: ['all', 'all five channels'],
    live: [
      'email-and-sms',
      '`email` and `sms`; other channels get a 400 `Channel <channel> does not support primary`'
    ]
  },
  'integration-lookup': {
    description: 'What set-primary accepts as `integrationId`.',
    document: [
      'id-or-identifier',
      '`_id` in upper or lower case, or `identifier`; an unknown value gets a 404'
    ],
    live: [
      'id',
      'only `_id`, in upper or lower case; ' +
        "a value that isn't 24 hex digits gets a 422 on `integrationId`"
    ]
  },
  'foreign-integration': {
    description:
      'What set-primary returns for an integration in another environment of the same ' +
      'organization.',
    document: ['not-found', '404, as if it did not exist'],
    live: ['forbidden', '403, which reveals that it exists']
  },
  credentials: {
    description: "Whether responses contain an integration's credentials.",
    document: ['stored', 'responses contain the stored credentials'],
    live: [
      'hidden',
      '`credentials` is always `{}`, and `configurations` has no `inboundWebhookSigningKey`'
    ]
  },
  'unknown-channel-filter': {
    description: 'What the message list returns for an unknown `channel`.',
    document: ['reject', '422 on `channel`'],
    live: ['empty-page', '200 with an empty page']
  },
  'unknown-subscriber-filter': {
    description: 'What the message list returns for an unknown `subscriberId`.',
    document: ['empty-page', '200 with an empty page'],
    live: ['not-found', '404 `Subscriber not found for id <id>`']
  },
  'malformed-context-key': {
    description:
      'What the message list returns for a context key that does not have the form `type:id`.',
    document: ['reject', '422 on `contextKeys`'],
    live: ['empty-page', '200 with an empty page']
  },
  'paging-bounds': {
    description: 'Which values of `page` and `limit` the message list accepts.',
    document: [
      'strict',
      '`page` must be a whole number of at least 0, and `limit` a whole number from 1 to 1000; ' +
        'other values get a 422 on the field'
    ],
    live: [
      'lenient',
      'an empty `limit` or a `limit` of 0 means 10; a `limit` above 1000 gets a 400 ' +
        '`Limit can not be larger then 1000` (sic); a value that is not a number gets a 422 ' +
        'on `general` with the value `No Value Recorded`. ' +
        'Novu accepts fractions and negative numbers, but its response to them is unknown, ' +
        'so the mock rejects them as in `strict`'
    ]
  },
  'total-count': {
    description: 'Whether the message list returns a total.',
    document: ['present', '`totalCount` is present and `hasMore` is exact'],
    live: [
      'absent',
      '`totalCount` is absent, and `hasMore` is true if the page is full. ' +
        'Novu has a feature flag, off by default, that switches to `present`'
    ]
  },
  'embedded-subscriber': {
    description: 'Which fields of the subscriber a message contains.',
    document: ['whole', "all of the subscriber's fields"],
    live: [
      'ten-fields',
      'only `_id`, `subscriberId`, `firstName`, `lastName`, `avatar`, `createdAt`, `updatedAt`, ' +
        '`_organizationId`, `_environmentId` and `deleted`, so there is no `email`'
    ]
  },
  'step-lookup': {
    description: 'Which values the step operation accepts as `workflowId` and `stepId`.',
    document: [
      'by-kind',
      'an `_id` in upper or lower case, or a slug with the matching kind, `_wf_` or `_st_`'
    ],
    live: [
      'any-kind',
      'an `_id` in lower case, or a slug that consists of a name, a kind ' +
        '(`wf`, `st`, `stp`, `env` or `lt`), and an id of 16 characters'
    ]
  },
  'unknown-step': {
    description: 'What the step operation returns if the workflow does not have the step.',
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
    description: "Which fields contain a step's control values.",
    document: ['once', '`controlValues`, which is absent if the step has no control values'],
    live: [
      'twice',
      '`controlValues` and `controls.values`; both are `{}` if the step has no control values'
    ]
  },
  'idempotency-match': {
    description:
      'Whether the environment or the organization owns an idempotency key, and which parts of a ' +
      'repeated request must match the first request.',
    document: [
      'request',
      'the key belongs to the environment; ' +
        'reusing the key with another method, path or body gets a 422'
    ],
    live: [
      'body',
      'the key belongs to the organization, so a repeated request gets the replay in all of the ' +
        "organization's environments; reusing the key with another body gets a 422"
    ]
  },
  'idempotency-quotes': {
    description: 'Whether double quotes around an idempotency key are part of the key.',
    document: ['stripped', 'the quotes are removed, so `"a"` and `a` are the same key'],
    live: ['kept', 'the quotes are part of the key']
  },
  'idempotency-rejections': {
    description: 'What the 409 and the 422 for an idempotency key contain.',
    document: ['plain', 'the 422 has `errors: {}`'],
    live: [
      'linked',
      'the 409 and the 422 have a `Link` header to the idempotency docs of Novu; ' +
        'the 422 has no `errors`'
    ]
  },
  'error-context': {
    description: 'What `ctx` contains in an error body, unless another assumption defines it.',
    document: ['empty', '`{}`'],
    live: [
      'exception',
      '`{"error": …, "statusCode": …}`, but `{}` for invalid fields and for a 500'
    ]
  },
  'unserved-route': {
    description: 'The response to a request whose path or method is not mocked.',
    document: [
      'not-mocked',
      '404 `<METHOD> <path> is not mocked`; 405 with `Allow` if only the method is wrong'
    ],
    live: [
      'not-found',
      '404 as in `not-mocked`; 404 `Cannot <METHOD> <path>` if only the method is wrong'
    ],
    // No profile uses this value, because the official clients retry a 501 for up to an hour.
    other: ['not-implemented', '501 `<METHOD> <path> is not mocked`; 405 as in `not-mocked`']
  },
  'auth-scheme-case': {
    description: 'How the scheme in the `Authorization` header may be spelled.',
    document: ['any', '`ApiKey`, in upper, lower or mixed case'],
    live: ['exact', 'exactly `ApiKey`; otherwise 401 `Invalid authentication scheme: "<word>"`']
  },
  'message-extras': {
    description:
      "Whether messages contain `id`, `updatedAt` and `__v`, which the API reference doesn't list.",
    document: ['absent', 'messages have no `id`, `updatedAt` or `__v`'],
    live: [
      'present',
      'the `id` of a message is its `_id`, `updatedAt` is when the message was last delivered, ' +
        'seen or read, and `__v` is 0'
    ]
  },
  'path-form': {
    description: 'How the path of an operation may be spelled. Parameters always keep their case.',
    document: ['strict', 'in lower case, without a slash at the end; other paths get a 404'],
    live: ['lenient', 'in upper, lower or mixed case, with or without a slash at the end']
  },
  cors: {
    description: 'Whether web pages of other origins can call the API.',
    document: ['allowed', 'responses have CORS headers, and preflights get a 204'],
    live: ['absent', 'responses have no CORS headers, and preflights get a 404']
  }
} as const

type Definitions = typeof ASSUMPTIONS
export type AssumptionId = keyof Definitions

/** A value that no profile uses. */
type OtherValue<Id extends AssumptionId> = Definitions[Id] extends {
  other: readonly [infer Value, string]
}
  ? Value
  : never

export type Assumptions = {
  readonly [Id in AssumptionId]: Definitions[Id][Profile][0] | OtherValue<Id>
}

export const ASSUMPTION_IDS = Object.keys(ASSUMPTIONS) as AssumptionId[]

/**
 * Returns an assumption as the control routes and the docs show it: its description, its possible
 * values with their effects, and the value in each profile.
 */
export function describeAssumption(id: AssumptionId) {
  const { description, document, live } = ASSUMPTIONS[id]
  return {
    description,
    values: Object.fromEntries([document, live, ...otherValues(id)]),
    document: document[0],
    live: live[0]
  }
}

/**
 * Returns the possible values of an assumption, starting with the value of the profile `document`.
 */
export const valuesOf = (id: AssumptionId): string[] => [
  ...PROFILES.map((profile) => ASSUMPTIONS[id][profile][0]),
  ...otherValues(id).map(([value]) => value)
]

/** Returns the values that no profile uses, each with its effect. */
function otherValues(id: AssumptionId): (readonly [value: string, effect: string])[] {
  const definition = ASSUMPTIONS[id]
  return 'other' in definition ? [definition.other] : []
}

/**
 * Returns the assumptions whose value differs from the profile's, as a map from id to value. Omits
 * unknown assumptions, which another version of the server may have stored.
 */
export function overridesOf(profile: Profile, assumptions: Assumptions): Record<string, string> {
  const ids = ASSUMPTION_IDS.filter((id) => assumptions[id] !== ASSUMPTIONS[id][profile][0])
  return Object.fromEntries(ids.map((id) => [id, assumptions[id]]))
}

/** Returns what is wrong with an assumption's id or value, or undefined if both are valid. */
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
 * Returns the profile's values with the overrides applied. If several overrides set an assumption,
 * the last one applies. Doesn't validate the overrides.
 */
export function assume(
  profile: Profile,
  ...overrides: readonly Record<string, string>[]
): Assumptions {
  const values = Object.fromEntries(ASSUMPTION_IDS.map((id) => [id, ASSUMPTIONS[id][profile][0]]))
  return Object.freeze(Object.assign(values, ...overrides)) as Assumptions
}

/** Maps names in the API reference to the names that Novu uses, where these differ. */
export const VENDOR_NAMES: Readonly<Record<string, string>> = {
  'service-cloud': 'novu-cloud',
  'service-cloud-v1': 'novu-cloud-v1',
  'service-slack': 'novu-slack'
}

/**
 * Returns whether a JSON document may need `withVendorNames`. The search is fast but inexact: it
 * may return true for a document that needs no change, but never false for one that does.
 */
export const mayNeedVendorNames = (json: string | Buffer, assumptions: Assumptions): boolean =>
  assumptions['vendor-names'] === 'vendor' && json.includes('"service-')

/**
 * The fields of a step, message or integration that can contain a name from `VENDOR_NAMES`. Other
 * fields contain the user's content.
 */
interface NameFields {
  origin?: string
  providerId?: string
  subscriber?: { channels?: NameFields[] }
}

/**
 * Replaces names from the API reference with Novu's names. Changes the document itself and returns
 * it.
 */
export function withVendorNames<Document extends NameFields>(document: Document): Document {
  const fields: NameFields = document
  for (const field of ['origin', 'providerId'] as const) {
    const name = fields[field] ?? ''
    if (Object.hasOwn(VENDOR_NAMES, name)) fields[field] = VENDOR_NAMES[name] ?? name
  }
  for (const channel of fields.subscriber?.channels ?? []) withVendorNames(channel)
  return document
}
