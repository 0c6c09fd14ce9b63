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
import { WorkflowStep } from '../workflow-steps/schemas.js'

export { UNNAMED } from '../environments/schemas.js'

const Id = Type.String({
  pattern: ID_PATTERN.source,
  description: '24 lower-case hex digits; derived from the names by default'
})

const object = <Properties extends TProperties>(description: string, properties: Properties) =>
  strictObject(properties, { description })

/** An optional string that must not be empty. */
const optionalString = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, description }))

/** An optional integer. */
const optionalInteger = (minimum: number, maximum: number, description: string) =>
  Type.Optional(Type.Integer({ minimum, maximum, description }))

/** Fields that a record gets from the environment that contains it. */
const OWNER = ['_environmentId', '_organizationId'] as const

export const SeedIntegration = object('An integration; a channel has at most one primary', {
  ...Type.Partial(Type.Omit(Integration, OWNER)).properties,
  _id: Type.Optional(Id),
  identifier: optionalString('Unique in the environment; the slug of the name by default'),
  providerId: Type.String({ minLength: 1, description: 'The delivery provider, such as sendgrid' }),
  channel: ref(Channel, 'The channel that it delivers on')
})
export type SeedIntegration = Static<typeof SeedIntegration>

export const SeedSubscriber = object('A subscriber; messages refer to it by subscriberId', {
  ...Type.Partial(Type.Omit(SubscriberResponse, OWNER)).properties,
  _id: Type.Optional(Id),
  subscriberId: Type.String({ minLength: 1, description: 'Your own id for the subscriber' })
})
export type SeedSubscriber = Static<typeof SeedSubscriber>

export const SeedStep = object('A step of a workflow; slug, variables and controls have defaults', {
  ...Type.Partial(Type.Omit(WorkflowStep, ['workflowId', 'workflowDatabaseId', 'origin']))
    .properties,
  _id: Type.Optional(Id),
  stepId: optionalString('Unique in the workflow; the slug of the name by default'),
  type: stringEnum(STEP_TYPES, { description: 'What the step does' })
})
export type SeedStep = Static<typeof SeedStep>

export const SeedWorkflow = object(
  'A workflow with its steps; it must have an identifier or a name',
  {
    _id: Type.Optional(Id),
    identifier: optionalString('The slug of the name by default'),
    name: optionalString('The identifier by default'),
    origin: Type.Optional(
      stringEnum(ORIGINS, { description: 'Where the workflow was created; external by default' })
    ),
    payloadSchema: Type.Optional(
      freeObject('JSON Schema of the payload; inferred from the control values by default')
    ),
    steps: Type.Optional(Type.Array(SeedStep))
  }
)
export type SeedWorkflow = Static<typeof SeedWorkflow>

const SeedTemplate = object('The workflow that is embedded in the message', {
  ...Type.Omit(WorkflowResponse, OWNER).properties,
  notificationGroup: Type.Optional(
    object('A group of workflows', {
      ...Type.Partial(Type.Omit(NotificationGroup, OWNER)).properties,
      name: NotificationGroup.properties.name
    })
  )
})

export const SeedMessage = object(
  'A message; by default, messages are one minute apart, newest first',
  {
    ...Type.Partial(Type.Omit(MessageResponse, [...OWNER, 'subscriber', 'template', 'channel']))
      .properties,
    _id: Type.Optional(Id),
    channel: ref(Channel, 'The channel that it was sent on'),
    subscriberId: Type.Optional(
      Type.String({ description: 'Subscriber of this environment to embed in the message' })
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
  'Generates messages for the workflows and subscribers of the environment',
  {
    messages: Type.Integer({
      minimum: 0,
      maximum: 10_000_000,
      description: 'How many messages to generate'
    }),
    randomSeed: optionalInteger(
      0,
      MAX_RANDOM_SEED,
      'The same number generates the same messages; 1 by default'
    ),
    subscribers: optionalInteger(
      0,
      100_000,
      'How many subscribers to generate; none by default if the environment has subscribers'
    ),
    days: optionalInteger(
      1,
      3650,
      'Spreads the messages over this many days before now; 30 by default'
    )
  }
)
export type SeedGenerate = Static<typeof SeedGenerate>

const SeedAssumptions = Type.Unsafe<{ [Id in AssumptionId]?: string }>(
  object(
    'Values of assumptions; they override the profile',
    Object.fromEntries(ASSUMPTION_IDS.map((id) => [id, Type.Optional(stringEnum(valuesOf(id)))]))
  )
)

export const SeedEnvironment = object(
  'An environment; its API keys give access to it and to no other',
  {
    _id: Type.Optional(Id),
    name: Type.String({ minLength: 1 }),
    organization: optionalString(
      'Name of its organization; environments without a name here share one organization'
    ),
    _organizationId: Type.Optional(Id),
    apiKeys: Type.Optional(
      Type.Array(Type.String({ pattern: API_KEY_PATTERN.source }), {
        description: 'API keys; by default one, <slug of the name>-key'
      })
    ),
    profile: Type.Optional(
      stringEnum(PROFILES, { description: "The server's profile by default" })
    ),
    assumptions: Type.Optional(SeedAssumptions),
    clock: Type.Optional(ClockSetting),
    randomSeed: optionalInteger(
      0,
      MAX_RANDOM_SEED,
      'Makes random values repeatable; they are unpredictable by default'
    ),
    integrations: Type.Optional(Type.Array(compiledSeparately(SeedIntegration))),
    subscribers: Type.Optional(Type.Array(compiledSeparately(SeedSubscriber))),
    workflows: Type.Optional(Type.Array(compiledSeparately(SeedWorkflow))),
    messages: Type.Optional(Type.Array(compiledSeparately(SeedMessage))),
    generate: Type.Optional(SeedGenerate)
  }
)
export type SeedEnvironment = Static<typeof SeedEnvironment>

/** The format of a seed file. `seeds/schema.json`, the published schema, is generated from it. */
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

/** An environment with all defaults filled in: the documents to store. */
export interface EnvironmentData {
  id: string
  organizationId: string
  name: string
  /** Null means the server's profile. */
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
  /** Takes the length of each generated message. Throws `SeedError` above the request limit. */
  countGenerated?: (characters: number) => void
  clock?: ClockSetting
  randomSeed?: number
}

/** A document with its id. */
export type Stored<Document extends { _id?: string }> = Document & { _id: string }

/** What messages are generated from. */
export type EnvironmentInput = Omit<EnvironmentData, 'profile' | 'assumptions' | 'apiKeys'>
