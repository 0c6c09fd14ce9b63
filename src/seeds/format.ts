import { type Static, type TObject, type TOptional, type TProperties, type TSchema, Type } from '@sinclair/typebox'
import { ASSUMPTION_IDS, type AssumptionId, PROFILES, positionsOf } from '../core/assumptions.js'
import { CHANNELS, ORIGINS, STEP_TYPES } from '../core/enums.js'
import { API_KEY_PATTERN, CONTEXT_KEY_PATTERN, ID_PATTERN } from '../core/ids.js'
import { freeObject, strictObject, stringEnum } from '../core/typebox.js'
import { ClockSetting } from '../environments/schemas.js'
import { Integration, integrationSchemas } from '../integrations/schemas.js'
import {
  MessageResponse,
  messageSchemas,
  NotificationGroup,
  SubscriberResponse,
  WorkflowResponse
} from '../messages/schemas.js'
import { WorkflowStep, workflowStepSchemas } from '../workflow-steps/schemas.js'

/** The schemas of the wire that the format refers to, dependencies first. */
export const seedFormatSchemas: readonly TSchema[] = [...integrationSchemas, ...messageSchemas, ...workflowStepSchemas]

const Id = Type.String({
  pattern: ID_PATTERN.source,
  description: '24 lower-case hex digits; made from the place if left out'
})

/** An object's fields, all of them optional, without those that are implied by where it stands. */
function optional<Properties extends TProperties, const Implied extends keyof Properties>(
  { properties }: TObject<Properties>,
  implied: readonly Implied[]
) {
  const fields = Object.entries(properties).filter(([name]) => !implied.includes(name as Implied))
  return Object.fromEntries(fields.map(([name, schema]) => [name, Type.Optional(schema)])) as {
    [Name in Exclude<keyof Properties, Implied>]: TOptional<Properties[Name]>
  }
}

export const SeedIntegration = strictObject(
  {
    ...optional(Integration, ['_environmentId', '_organizationId']),
    _id: Type.Optional(Id),
    identifier: Type.Optional(
      Type.String({ minLength: 1, description: 'Its own name in the environment; the slug of the name, if left out' })
    ),
    providerId: Type.String({ minLength: 1, description: 'The delivery provider, such as sendgrid' }),
    channel: stringEnum(CHANNELS)
  },
  { description: 'An integration; at most one of a channel may be primary' }
)
export type SeedIntegration = Static<typeof SeedIntegration>

export const SeedSubscriber = strictObject(
  {
    ...optional(SubscriberResponse, ['_environmentId', '_organizationId']),
    _id: Type.Optional(Id),
    subscriberId: Type.String({ minLength: 1, description: 'Your own id for the subscriber' })
  },
  { description: 'A subscriber, that messages refer to by subscriberId' }
)
export type SeedSubscriber = Static<typeof SeedSubscriber>

export const SeedStep = strictObject(
  {
    ...optional(WorkflowStep, ['workflowId', 'workflowDatabaseId', 'origin']),
    _id: Type.Optional(Id),
    stepId: Type.Optional(
      Type.String({ minLength: 1, description: 'Its own name in the workflow; the slug of the name, if left out' })
    ),
    type: stringEnum(STEP_TYPES)
  },
  { description: 'A step; its slug, variables and controls are worked out if left out' }
)
export type SeedStep = Static<typeof SeedStep>

export const SeedWorkflow = strictObject(
  {
    _id: Type.Optional(Id),
    identifier: Type.Optional(Type.String({ minLength: 1, description: 'The slug of the name, if left out' })),
    name: Type.Optional(Type.String({ minLength: 1, description: 'The identifier, if left out' })),
    origin: Type.Optional(stringEnum(ORIGINS, { description: 'Where the workflow was made; external if left out' })),
    payloadSchema: Type.Optional(
      freeObject('JSON Schema of the payload; inferred from the control values if left out')
    ),
    steps: Type.Optional(Type.Array(SeedStep))
  },
  { description: 'A workflow with its steps; it needs an identifier or a name' }
)
export type SeedWorkflow = Static<typeof SeedWorkflow>

const { _environmentId, _organizationId, ...templateFields } = WorkflowResponse.properties

const SeedTemplate = strictObject(
  {
    ...templateFields,
    notificationGroup: Type.Optional(
      strictObject({
        ...optional(NotificationGroup, ['_environmentId', '_organizationId']),
        name: NotificationGroup.properties.name
      })
    )
  },
  { description: 'The workflow as the message embeds it, whole' }
)

export const SeedMessage = strictObject(
  {
    ...optional(MessageResponse, ['_environmentId', '_organizationId', 'subscriber', 'template', 'channel']),
    _id: Type.Optional(Id),
    channel: stringEnum(CHANNELS),
    subscriberId: Type.Optional(Type.String({ description: 'Of a subscriber in this environment: it is embedded' })),
    workflow: Type.Optional(Type.String({ description: 'Identifier of a workflow in this environment' })),
    subscriber: Type.Optional(SeedSubscriber),
    template: Type.Optional(SeedTemplate),
    contextKeys: Type.Optional(
      Type.Array(Type.String({ pattern: CONTEXT_KEY_PATTERN }), { description: 'Each `type:id`' })
    )
  },
  { description: 'A message; those without createdAt are one minute apart, the first one the newest' }
)
export type SeedMessage = Static<typeof SeedMessage>

const MAX_RANDOM_SEED = 2 ** 32 - 1

export const SeedGenerate = strictObject(
  {
    messages: Type.Integer({ minimum: 0, maximum: 10_000_000, description: 'How many to make' }),
    randomSeed: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: MAX_RANDOM_SEED,
        description: 'The same gives the same messages; 1, if left out'
      })
    ),
    subscribers: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 100_000,
        description: 'How many to make besides those of the seed; if left out, none, or some where there are none'
      })
    ),
    days: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 3650, description: 'How far back they are spread; 30, if left out' })
    )
  },
  { description: 'Messages to be made, of the workflows here to the subscribers here' }
)
export type SeedGenerate = Static<typeof SeedGenerate>

const SeedAssumptions = Type.Unsafe<{ [Id in AssumptionId]?: string }>(
  strictObject(Object.fromEntries(ASSUMPTION_IDS.map((id) => [id, Type.Optional(stringEnum(positionsOf(id)))])), {
    description: 'Overrides of single rows of the assumption register'
  })
)

export const SeedEnvironment = strictObject(
  {
    _id: Type.Optional(Id),
    name: Type.String({ minLength: 1 }),
    organization: Type.Optional(
      Type.String({ minLength: 1, description: 'Name of its organization; environments that leave it out share one' })
    ),
    _organizationId: Type.Optional(Id),
    apiKeys: Type.Optional(
      Type.Array(Type.String({ pattern: API_KEY_PATTERN.source }), {
        description: 'If left out one: <slug of the name>-key'
      })
    ),
    profile: Type.Optional(stringEnum(PROFILES, { description: "The server's own, if left out" })),
    assumptions: Type.Optional(SeedAssumptions),
    clock: Type.Optional(ClockSetting),
    randomSeed: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 4294967295, description: 'Makes what is left to chance the same each time' })
    ),
    integrations: Type.Optional(Type.Array(SeedIntegration)),
    subscribers: Type.Optional(Type.Array(SeedSubscriber)),
    workflows: Type.Optional(Type.Array(SeedWorkflow)),
    messages: Type.Optional(Type.Array(SeedMessage)),
    generate: Type.Optional(SeedGenerate)
  },
  { description: 'A world of its own, that its API keys give access to' }
)
export type SeedEnvironment = Static<typeof SeedEnvironment>

/** What a seed file holds. The published JSON Schema, `seeds/schema.json`, is made of it. */
export const Seed = strictObject(
  {
    $schema: Type.Optional(Type.String({ description: 'Where the JSON Schema of seeds is: for editors' })),
    environments: Type.Array(SeedEnvironment)
  },
  { description: 'A seed of notification-mock' }
)
export type Seed = Static<typeof Seed>
