import {
  type Static,
  type TObject,
  type TSchema,
  type TString,
  type TUnsafe,
  Type
} from '@sinclair/typebox'
import { withVendorNames } from '../../domain/assumptions.js'
import { ORIGINS } from '../../domain/enums.js'
import { slugOf } from '../../domain/ids.js'
import type { Environment } from '../../environments/service.js'
import { type AddRoute, listOf } from '../../http/control-route.js'
import { Integration } from '../../integrations/schemas.js'
import { toIntegrationResponse } from '../../integrations/service.js'
import { MessageResponse } from '../../messages/schemas.js'
import { FoundMessages, MessageSearch } from '../../messages/search.js'
import { toMessageResponse } from '../../messages/service.js'
import { namedObject, ref, strictObject, targetOf } from '../../schema/typebox.js'
import { type EnvironmentData, SeedIntegration, SeedMessage, SeedStep } from '../../seeds/format.js'
import type { EditedKind, EditedSeeds, Patch } from '../../seeds/records.js'
import { WorkflowStep } from '../../workflow-steps/schemas.js'
import type { ControlServices } from '../services.js'

const NEW_MESSAGE =
  'A message with the same fields as in a seed. `createdAt` defaults to the current time of the ' +
  "environment's clock"
export const NewMessage = namedObject('NewMessage', NEW_MESSAGE, SeedMessage.properties)
export type NewMessage = Static<typeof NewMessage>

export const MessagePatch = patchOf<SeedMessage>('MessagePatch', SeedMessage)
export type MessagePatch = Static<typeof MessagePatch>

const writeOnly = <Schema extends TSchema>(schema: Schema): Schema => ({
  ...schema,
  writeOnly: true
})
const { credentials, ...others } = SeedIntegration.properties
const INTEGRATION = { ...others, credentials: writeOnly(credentials) }
export const NewIntegration = namedObject(
  'NewIntegration',
  'An integration with the same fields as in a seed',
  INTEGRATION
)
export type NewIntegration = Static<typeof NewIntegration>

export const IntegrationPatch = patchOf<SeedIntegration>('IntegrationPatch', NewIntegration)
export type IntegrationPatch = Static<typeof IntegrationPatch>

export const StepPatch = patchOf<SeedStep>('StepPatch', SeedStep)
export type StepPatch = Static<typeof StepPatch>

/**
 * Returns the schema of a patch. It has all fields of the record except `_id`. Each field is
 * optional and may be null.
 */
function patchOf<RecordSeed>($id: string, { properties }: TObject): TUnsafe<Patch<RecordSeed>> {
  const { _id, ...fields } = properties
  const nullable = Object.entries(fields).map(([name, field]) => {
    const { description = field.$ref && targetOf(field).description, writeOnly } = field
    const options = { ...(description && { description }), ...(writeOnly && { writeOnly }) }
    return [name, Type.Optional(Type.Union([field, Type.Null()], options))]
  })
  const description = 'The fields to change; null removes an optional field'
  return Type.Unsafe<Patch<RecordSeed>>(
    strictObject(Object.fromEntries(nullable), { $id, description })
  )
}

const ListedStep = strictObject(
  Type.Pick(WorkflowStep, ['_id', 'stepId', 'slug', 'name', 'type']).properties
)

export const ListedWorkflow = namedObject(
  'ListedWorkflow',
  'A workflow with the identifiers of its steps',
  {
    _id: Type.String({ description: 'Record identifier of the workflow' }),
    identifier: Type.String({ description: 'Unique identifier of the workflow' }),
    slug: Type.String({ description: 'Slug of the workflow' }),
    name: Type.String({ description: 'Display name' }),
    origin: Type.String({
      description:
        `Where the workflow was created: ${ORIGINS.join(', ')}. If the assumption ` +
        "`vendor-names` is `vendor`, the field contains Novu's own name for the origin"
    }),
    steps: Type.Array(ListedStep, { description: 'The steps, in order' })
  }
)
export type ListedWorkflow = Static<typeof ListedWorkflow>

const MessageId = Type.String({ description: 'The `_id` of the message' })
const WorkflowId = Type.String({ description: 'The `_id` or the `identifier` of the workflow' })
const StepId = Type.String({ description: 'The `_id` or the `stepId` of the step' })
const IntegrationId = Type.String({
  description: 'The `_id` or the `identifier` of the integration'
})

/**
 * Adds the routes that search or list messages, integrations and workflows, and the routes that
 * edit single messages, integrations and workflow steps.
 */
export function recordRoutes(route: AddRoute, { messages, seeds }: ControlServices): void {
  messageRoutes(route, messages)
  editRoutes(route, seeds, {
    kind: 'messages',
    noun: 'a message',
    id: MessageId,
    seed: ref(NewMessage),
    patch: ref(MessagePatch),
    response: ref(MessageResponse),
    show: toMessageResponse
  })
  editRoutes(route, seeds, {
    kind: 'integrations',
    noun: 'an integration',
    id: IntegrationId,
    seed: ref(NewIntegration),
    patch: ref(IntegrationPatch),
    response: ref(Integration),
    show: toIntegrationResponse
  })
  workflowRoutes(route, seeds)

  route('GET', '/integrations', 'listIntegrations', 'List the integrations', {
    description:
      'Includes soft-deleted integrations. Each integration has the same fields as in the ' +
      'response of set-primary.',
    response: listOf('integrations', ref(Integration), 'All integrations, in insertion order'),
    handler: async ({ environment }) => ({
      integrations: seeds
        .listIntegrations(environment)
        .map((integration) => toIntegrationResponse(integration, environment))
    })
  })
}

/** Adds the routes that search messages and return a single message. */
function messageRoutes(route: AddRoute, messages: ControlServices['messages']): void {
  route('GET', '/messages', 'searchMessages', 'Search the messages', {
    description:
      'Returns one page of the messages that match all filters, newest first. Unlike ' +
      "`GET /v1/messages`, this route can search the messages' text. Faults and latency don't " +
      'affect it.',
    querystring: MessageSearch,
    response: ref(FoundMessages),
    handler: async ({ environment, query }) => messages.search(environment, query)
  })

  route('GET', '/messages/:id', 'getMessage', 'Get a message', {
    params: strictObject({ id: MessageId }),
    response: ref(MessageResponse),
    handler: async ({ environment, params: { id } }) => messages.get(environment, id)
  })
}

/** Adds the routes that list workflows and change a step. */
function workflowRoutes(route: AddRoute, seeds: ControlServices['seeds']): void {
  route('GET', '/workflows', 'listWorkflows', 'List the workflows, with the ids of their steps', {
    response: listOf('workflows', ref(ListedWorkflow), 'All workflows, in insertion order'),
    handler: async ({ environment }) => ({
      workflows: seeds
        .listWorkflows(environment)
        .map(({ _id, identifier, name, origin, steps }) => {
          return withNames(
            { _id, identifier, slug: slugOf(name, 'wf', _id), name, origin, steps },
            environment
          )
        })
    })
  })

  route('PATCH', '/workflows/:workflow/steps/:step', 'changeStep', 'Change a step of a workflow', {
    description:
      'Changes any field of the step except `_id`, such as its name, type or control values.',
    params: strictObject({ workflow: WorkflowId, step: StepId }),
    body: ref(StepPatch),
    response: ref(WorkflowStep),
    handler: async ({ environment, params, body }) =>
      withNames(seeds.changeStep(environment, params.workflow, params.step, body), environment)
  })
}

interface Edited<Kind extends EditedKind> {
  kind: Kind
  noun: string
  id: TString
  seed: TUnsafe<EditedSeeds[Kind]>
  patch: TUnsafe<Patch<EditedSeeds[Kind]>>
  response: TSchema
  show: (record: EnvironmentData[Kind][number], environment: Environment) => object
}

/**
 * Adds the routes that add, change and remove single records of one kind. The routes return records
 * in the same form as the API's operations.
 */
function editRoutes<Kind extends EditedKind>(
  route: AddRoute,
  seeds: ControlServices['seeds'],
  { kind, noun, id, seed, patch, response, show }: Edited<Kind>
): void {
  const name = kind === 'messages' ? 'Message' : 'Integration'
  const params = strictObject({ id })
  const path = `/${kind}/:id`
  route('POST', `/${kind}`, `add${name}`, `Add ${noun}`, {
    description: 'Applies the same checks as a seed.',
    body: seed,
    response,
    status: 201,
    errors: [409],
    handler: async ({ environment, body }) =>
      show(seeds.addRecord(kind, environment, body as EditedSeeds[Kind]), environment)
  })

  route('PATCH', path, `change${name}`, `Change ${noun}`, {
    description:
      'Changes any field except `_id`. Also updates the values derived from a changed field. For ' +
      "example, changing a message's subscriber also changes its email address and phone number.",
    params,
    body: patch,
    response,
    errors: kind === 'messages' ? [] : [409],
    handler: async ({ environment, params: { id }, body }) =>
      show(seeds.changeRecord(kind, environment, id, body as Patch<EditedSeeds[Kind]>), environment)
  })

  route('DELETE', path, `remove${name}`, `Remove ${noun}`, {
    params,
    handler: async ({ environment, params: { id } }) => seeds.removeRecord(kind, environment, id)
  })
}

/**
 * Returns the record, with Novu's own names for origins and providers if the environment's
 * assumption `vendor-names` is `vendor`.
 */
function withNames<Named extends object>(record: Named, { assumptions }: Environment): Named {
  return assumptions['vendor-names'] === 'vendor' ? withVendorNames(record) : record
}
