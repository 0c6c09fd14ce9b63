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
  description: '24 lower-case hex digits; by default from names'
})

const object = <Properties extends TProperties>(description: string, properties: Properties) =>
  strictObject(properties, { description })

/** Text that may be left out, but not empty. */
const text = (description: string) => Type.Optional(Type.String({ minLength: 1, description }))

/** A whole number that may be left out. */
const integer = (minimum: number, maximum: number, description: string) =>
  Type.Optional(Type.Integer({ minimum, maximum, description }))

/** Fields that are implied by where a record stands in a seed. */
const OWNER = ['_environmentId', '_organizationId'] as const

export const SeedIntegration = object('An integration; at most one of a channel may be primary', {
  ...Type.Partial(Type.Omit(Integration, OWNER)).properties,
  _id: Type.Optional(Id),
  identifier: text('Unique in the environment; the slug of the name by default'),
  providerId: Type.String({ minLength: 1, description: 'The delivery provider, such as sendgrid' }),
  channel: ref(Channel, 'The channel it delivers on')
})
export type SeedIntegration = Static<typeof SeedIntegration>

export const SeedSubscriber = object('A subscriber; messages refer to it by subscriberId', {
  ...Type.Partial(Type.Omit(SubscriberResponse, OWNER)).properties,
  _id: Type.Optional(Id),
  subscriberId: Type.String({ minLength: 1, description: 'Your own id for the subscriber' })
})
export type SeedSubscriber = Static<typeof SeedSubscriber>

export const SeedStep = object('A step; its slug, variables and controls have defaults', {
  ...Type.Partial(Type.Omit(WorkflowStep, ['workflowId', 'workflowDatabaseId', 'origin']))
    .properties,
  _id: Type.Optional(Id),
  stepId: text('Unique in the workflow; the slug of the name by default'),
  type: stringEnum(STEP_TYPES, { description: 'What the step does' })
})
export type SeedStep = Static<typeof SeedStep>

export const SeedWorkflow = object('A workflow with its steps; it needs an identifier or a name', {
  _id: Type.Optional(Id),
  identifier: text('The slug of the name by default'),
  name: text('The identifier by default'),
  origin: Type.Optional(
    stringEnum(ORIGINS, { description: 'Where the workflow was created; external by default' })
  ),
  payloadSchema: Type.Optional(
    freeObject('JSON Schema of the payload; by default inferred from the control values')
  ),
  steps: Type.Optional(Type.Array(SeedStep))
})
export type SeedWorkflow = Static<typeof SeedWorkflow>

const SeedTemplate = object('The whole workflow as it is embedded in the message', {
  ...Type.Omit(WorkflowResponse, OWNER).properties,
  notificationGroup: Type.Optional(
    object('Group of workflows', {
      ...Type.Partial(Type.Omit(NotificationGroup, OWNER)).properties,
      name: NotificationGroup.properties.name
    })
  )
})

export const SeedMessage = object(
  'A message; without createdAt they are one minute compiledSeparately, the newest first',
  {
    ...Type.Partial(Type.Omit(MessageResponse, [...OWNER, 'subscriber', 'template', 'channel']))
      .properties,
    _id: Type.Optional(Id),
    channel: ref(Channel, 'The channel it was sent on'),
    subscriberId: Type.Optional(
      Type.String({ description: 'Of a subscriber in this environment, which is embedded' })
    ),
    workflow: Type.Optional(
      Type.String({ description: 'Identifier of a workflow in this environment' })
    ),
    subscriber: Type.Optional(SeedSubscriber),
    template: Type.Optional(SeedTemplate),
    contextKeys: Type.Optional(
      Type.Array(Type.String({ pattern: CONTEXT_KEY_PATTERN }), { description: 'Each `type:id`' })
    )
  }
)
export type SeedMessage = Static<typeof SeedMessage>

const MAX_RANDOM_SEED = 2 ** 32 - 1

export const SeedGenerate = object(
  'Messages to generate for the workflows and subscribers of the environment',
  {
    messages: Type.Integer({
      minimum: 0,
      maximum: 10_000_000,
      description: 'How many messages to generate'
    }),
    randomSeed: integer(
      0,
      MAX_RANDOM_SEED,
      'The same number generates the same messages; 1 by default'
    ),
    subscribers: integer(
      0,
      100_000,
      'How many subscribers to generate; by default none if the environment has some'
    ),
    days: integer(
      1,
      3650,
      'The number of days before now that the messages are from; 30 by default'
    )
  }
)
export type SeedGenerate = Static<typeof SeedGenerate>

const SeedAssumptions = Type.Unsafe<{ [Id in AssumptionId]?: string }>(
  object(
    'Values of single assumptions, over those of the profile',
    Object.fromEntries(ASSUMPTION_IDS.map((id) => [id, Type.Optional(stringEnum(valuesOf(id)))]))
  )
)

export const SeedEnvironment = object(
  'An environment, isolated from all others; its API keys give access to it',
  {
    _id: Type.Optional(Id),
    name: Type.String({ minLength: 1 }),
    organization: text('Name of its organization; environments without one share one'),
    _organizationId: Type.Optional(Id),
    apiKeys: Type.Optional(
      Type.Array(Type.String({ pattern: API_KEY_PATTERN.source }), {
        description: 'One by default: <slug of the name>-key'
      })
    ),
    profile: Type.Optional(stringEnum(PROFILES, { description: 'That of the server by default' })),
    assumptions: Type.Optional(SeedAssumptions),
    clock: Type.Optional(ClockSetting),
    randomSeed: integer(
      0,
      MAX_RANDOM_SEED,
      'Makes random values the same each time; unpredictable by default'
    ),
    integrations: Type.Optional(Type.Array(compiledSeparately(SeedIntegration))),
    subscribers: Type.Optional(Type.Array(compiledSeparately(SeedSubscriber))),
    workflows: Type.Optional(Type.Array(compiledSeparately(SeedWorkflow))),
    messages: Type.Optional(Type.Array(compiledSeparately(SeedMessage))),
    generate: Type.Optional(SeedGenerate)
  }
)
export type SeedEnvironment = Static<typeof SeedEnvironment>

/** What a seed file holds. The published JSON Schema, `seeds/schema.json`, is generated from it. */
export const Seed = object('A seed of notification-mock', {
  $schema: Type.Optional(
    Type.String({ description: 'Where the JSON Schema of seeds is: for editors' })
  ),
  environments: Type.Array(compiledSeparately(SeedEnvironment))
})
export type Seed = Static<typeof Seed>

/** A stored workflow, without its steps. */
export type WorkflowDocument = Required<
  Pick<SeedWorkflow, '_id' | 'identifier' | 'name' | 'origin'>
> &
  Pick<SeedWorkflow, 'payloadSchema'>

/** An environment with every default filled in: the documents that are stored and served. */
export interface EnvironmentData {
  id: string
  organizationId: string
  name: string
  /** Null: the server's own. */
  profile: Profile | null
  assumptions: Record<string, string>
  apiKeys: string[]
  integrations: Stored<Integration>[]
  subscribers: Stored<SubscriberResponse>[]
  workflows: WorkflowDocument[]
  steps: WorkflowStep[]
  messages: Stored<MessageResponse>[]
  /** Messages to generate besides. */
  generate?: SeedGenerate
  /** Takes the characters of each generated message. Throws SeedError when they are too many for a request. */
  countGenerated?: (characters: number) => void
  /** Undefined where the seeds leave it out. */
  clock?: ClockSetting
  randomSeed?: number
}

/** A document that has its id. */
export type Stored<Document extends { _id?: string }> = Document & { _id: string }

/** What messages are generated from. */
export type EnvironmentInput = Omit<EnvironmentData, 'profile' | 'assumptions' | 'apiKeys'>
