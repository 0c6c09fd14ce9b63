import { type Static, type TProperties, Type } from '@sinclair/typebox'
import {
  ASSUMPTION_IDS,
  type AssumptionId,
  PROFILES,
  type Profile,
  valuesOf
} from '../domain/assumptions.js'
import { ORIGINS, STEP_TYPES } from '../domain/enums.js'
import { API_KEY_PATTERN, CONTEXT_KEY_PATTERN, ID_PATTERN } from '../domain/ids.js'
import { MAX_STUBS } from '../domain/stub.js'
import { ClockSetting } from '../environments/schemas.js'
import { Integration } from '../integrations/schemas.js'
import {
  MessageResponse,
  NotificationGroup,
  SubscriberResponse,
  WorkflowResponse
} from '../messages/schemas.js'
import { Channel } from '../schema/shared.js'
import { compiledSeparately, freeObject, ref, strictObject, stringEnum } from '../schema/typebox.js'
import { SeedStub } from '../stubs/schemas.js'
import { WorkflowStep } from '../workflow-steps/schemas.js'

export { UNNAMED } from '../environments/schemas.js'

const Id = Type.String({
  pattern: ID_PATTERN.source,
  description: '24 lower-case hex digits; by default, an id that is the same on every load'
})

const object = <Properties extends TProperties>(description: string, properties: Properties) =>
  strictObject(properties, { description })

/** An optional string that must not be empty. */
const optionalString = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, description }))

/** An optional integer. */
const optionalInteger = (minimum: number, maximum: number, description: string) =>
  Type.Optional(Type.Integer({ minimum, maximum, description }))

/** Fields that a record gets from its environment. */
const OWNER = ['_environmentId', '_organizationId'] as const

export const SeedIntegration = object('An integration; only one per channel can be primary', {
  ...Type.Partial(Type.Omit(Integration, OWNER)).properties,
  _id: Type.Optional(Id),
  identifier: optionalString(
    'Identifier, unique in the environment; by default, the slug of the name'
  ),
  providerId: Type.String({ minLength: 1, description: 'The delivery provider, such as sendgrid' }),
  channel: ref(Channel, 'The channel that the integration delivers on')
})
export type SeedIntegration = Static<typeof SeedIntegration>

export const SeedSubscriber = object('A subscriber; messages refer to it by subscriberId', {
  ...Type.Partial(Type.Omit(SubscriberResponse, OWNER)).properties,
  _id: Type.Optional(Id),
  subscriberId: Type.String({ minLength: 1, description: 'Your own id for the subscriber' })
})
export type SeedSubscriber = Static<typeof SeedSubscriber>

export const SeedStep = object('A workflow step; only its `type` is required', {
  ...Type.Partial(Type.Omit(WorkflowStep, ['workflowId', 'workflowDatabaseId', 'origin']))
    .properties,
  _id: Type.Optional(Id),
  stepId: optionalString('Identifier, unique in the workflow; by default, the slug of the name'),
  type: stringEnum(STEP_TYPES, { description: 'What the step does' })
})
export type SeedStep = Static<typeof SeedStep>

export const SeedWorkflow = object(
  'A workflow with its steps; it must have an identifier or a name',
  {
    _id: Type.Optional(Id),
    identifier: optionalString('Identifier of the workflow; by default, the slug of the name'),
    name: optionalString('Display name; by default, the identifier'),
    origin: Type.Optional(
      stringEnum(ORIGINS, { description: 'Where the workflow was created; by default, external' })
    ),
    payloadSchema: Type.Optional(
      freeObject('JSON Schema of the payload; by default, inferred from the control values')
    ),
    steps: Type.Optional(Type.Array(SeedStep))
  }
)
export type SeedWorkflow = Static<typeof SeedWorkflow>

const SeedTemplate = object('The workflow embedded in the message', {
  ...Type.Omit(WorkflowResponse, OWNER).properties,
  notificationGroup: Type.Optional(
    object('A group of workflows', {
      ...Type.Partial(Type.Omit(NotificationGroup, OWNER)).properties,
      name: NotificationGroup.properties.name
    })
  )
})

export const SeedMessage = object(
  'A message; by default, it is one minute older than the message before it in the list. Times ' +
    'can be relative to now, such as `-2h`',
  {
    ...Type.Partial(Type.Omit(MessageResponse, [...OWNER, 'subscriber', 'template', 'channel']))
      .properties,
    _id: Type.Optional(Id),
    channel: ref(Channel, 'The channel that the message was sent on'),
    subscriberId: Type.Optional(
      Type.String({
        description: 'Id of a subscriber in this environment; the message embeds this subscriber'
      })
    ),
    workflow: Type.Optional(
      Type.String({ description: 'Identifier of a workflow in this environment' })
    ),
    subscriber: Type.Optional(SeedSubscriber),
    template: Type.Optional(SeedTemplate),
    contextKeys: Type.Optional(
      Type.Array(Type.String({ pattern: CONTEXT_KEY_PATTERN }), {
        description: 'Context keys in the form `type:id`'
      })
    )
  }
)
export type SeedMessage = Static<typeof SeedMessage>

const MAX_RANDOM_SEED = 2 ** 32 - 1

export const SeedGenerate = object(
  "Generates messages for the environment's workflows and subscribers",
  {
    messages: Type.Integer({
      minimum: 0,
      maximum: 10_000_000,
      description: 'How many messages to generate'
    }),
    randomSeed: optionalInteger(
      0,
      MAX_RANDOM_SEED,
      'The same number generates the same messages; by default, 1'
    ),
    subscribers: optionalInteger(
      0,
      100_000,
      'How many subscribers to generate. If absent or 0: none if the environment has ' +
        'subscribers, otherwise one per 50 messages (at least 5, at most 1000)'
    ),
    days: optionalInteger(
      1,
      3650,
      'Spreads the messages over this many days before now; by default, 30'
    )
  }
)
export type SeedGenerate = Static<typeof SeedGenerate>

const SeedAssumptions = Type.Unsafe<{ [Id in AssumptionId]?: string }>(
  object(
    "Values of individual assumptions, which override the profile's values",
    Object.fromEntries(ASSUMPTION_IDS.map((id) => [id, Type.Optional(stringEnum(valuesOf(id)))]))
  )
)

export const SeedEnvironment = object(
  'An environment; its API keys give access to this environment only',
  {
    _id: Type.Optional(Id),
    name: Type.String({ minLength: 1 }),
    organization: optionalString(
      'Name of the organization; all environments without this field share one organization'
    ),
    _organizationId: Type.Optional(Id),
    apiKeys: Type.Optional(
      Type.Array(Type.String({ pattern: API_KEY_PATTERN.source }), {
        description: 'API keys; by default, one key: <slug of the name>-key'
      })
    ),
    profile: Type.Optional(
      stringEnum(PROFILES, { description: "By default, the server's profile" })
    ),
    assumptions: Type.Optional(SeedAssumptions),
    clock: Type.Optional(ClockSetting),
    timesRelativeTo: Type.Optional(
      Type.String({
        description:
          'An ISO 8601 time. When the seed is loaded, all times in the records are shifted by ' +
          'the same duration, so that this time becomes the current time'
      })
    ),
    randomSeed: optionalInteger(
      0,
      MAX_RANDOM_SEED,
      'Makes random values repeatable; by default, they are unpredictable'
    ),
    integrations: Type.Optional(Type.Array(compiledSeparately(SeedIntegration))),
    subscribers: Type.Optional(Type.Array(compiledSeparately(SeedSubscriber))),
    workflows: Type.Optional(Type.Array(compiledSeparately(SeedWorkflow))),
    messages: Type.Optional(Type.Array(compiledSeparately(SeedMessage))),
    stubs: Type.Optional(
      Type.Array(SeedStub, {
        maxItems: MAX_STUBS,
        description: 'Responses to requests that no operation serves'
      })
    ),
    generate: Type.Optional(SeedGenerate)
  }
)
export type SeedEnvironment = Static<typeof SeedEnvironment>

/** The format of a seed file. The published `seeds/schema.json` is generated from this schema. */
export const Seed = object('A seed of notification-mock', {
  $schema: Type.Optional(
    Type.String({ description: 'URL or path of the JSON Schema, for editors' })
  ),
  environments: Type.Array(compiledSeparately(SeedEnvironment))
})
export type Seed = Static<typeof Seed>

/** A stored workflow. Its steps are stored separately. */
export type WorkflowDocument = Required<
  Pick<SeedWorkflow, '_id' | 'identifier' | 'name' | 'origin'>
> &
  Pick<SeedWorkflow, 'payloadSchema'>

/** An environment with all defaults filled in. The lists contain the documents to store. */
export interface EnvironmentData {
  id: string
  organizationId: string
  name: string
  /** `null` if the environment uses the server's profile. */
  profile: Profile | null
  assumptions: Record<string, string>
  apiKeys: string[]
  integrations: Stored<Integration>[]
  subscribers: Stored<SubscriberResponse>[]
  workflows: WorkflowDocument[]
  steps: WorkflowStep[]
  messages: Stored<MessageResponse>[]
  /** Messages to generate in addition to `messages`. */
  generate?: SeedGenerate
  /**
   * Counts the characters of a generated message. Throws `SeedError` once the seed adds more data
   * than a seed in a request may. Undefined if the seed isn't in a request.
   */
  countGenerated?: (characters: number) => void
  clock?: ClockSetting
  randomSeed?: number
  stubs: SeedStub[]
}

/** A `Document` whose `_id` is always set. */
export type Stored<Document extends { _id?: string }> = Document & { _id: string }

/** The parts of an environment that are needed to generate its messages. */
export type EnvironmentInput = Omit<EnvironmentData, 'profile' | 'assumptions' | 'apiKeys'>
