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
import { toMessageResponse } from '../../messages/service.js'
import { namedObject, ref, strictObject, targetOf } from '../../schema/typebox.js'
import { type EnvironmentData, SeedIntegration, SeedMessage, SeedStep } from '../../seeds/format.js'
import type { EditedKind, EditedSeeds, Patch } from '../../seeds/records.js'
import { WorkflowStep } from '../../workflow-steps/schemas.js'
import type { Services } from '../services.js'

const NEW_MESSAGE =
  'A message as in a seed; without createdAt it is of now, by the clock of the environment'
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
  'An integration as in a seed',
  INTEGRATION
)
export type NewIntegration = Static<typeof NewIntegration>

export const IntegrationPatch = patchOf<SeedIntegration>('IntegrationPatch', NewIntegration)
export type IntegrationPatch = Static<typeof IntegrationPatch>

export const StepPatch = patchOf<SeedStep>('StepPatch', SeedStep)
export type StepPatch = Static<typeof StepPatch>

/** Returns the schema of a change: any of the fields but `_id`, or null in place of one. */
function patchOf<RecordSeed>($id: string, { properties }: TObject): TUnsafe<Patch<RecordSeed>> {
  const { _id, ...fields } = properties
  const nullable = Object.entries(fields).map(([name, field]) => {
    const { description = field.$ref && targetOf(field).description, writeOnly } = field
    const options = { ...(description && { description }), ...(writeOnly && { writeOnly }) }
    return [name, Type.Optional(Type.Union([field, Type.Null()], options))]
  })
  const description = 'The fields to change; null removes one that may be left out'
  return Type.Unsafe<Patch<RecordSeed>>(
    strictObject(Object.fromEntries(nullable), { $id, description })
  )
}

const ListedStep = strictObject(
  Type.Pick(WorkflowStep, ['_id', 'stepId', 'slug', 'name', 'type']).properties
)

export const ListedWorkflow = namedObject(
  'ListedWorkflow',
  'A workflow, and what its steps are asked for by',
  {
    _id: Type.String({ description: 'Record identifier of the workflow' }),
    identifier: Type.String({ description: 'Unique identifier of the workflow' }),
    slug: Type.String({ description: 'Its slug' }),
    name: Type.String({ description: 'Display name' }),
    origin: Type.String({
      description: `Where it was created: ${ORIGINS.join(', ')}, or the vendor's names of these`
    }),
    steps: Type.Array(ListedStep, { description: 'Its steps, in their order' })
  }
)
export type ListedWorkflow = Static<typeof ListedWorkflow>

const MessageId = Type.String({ description: 'The `_id` of the message' })
const WorkflowId = Type.String({ description: 'The `_id` or the `identifier` of the workflow' })
const StepId = Type.String({ description: 'The `_id` or the `stepId` of the step' })
const IntegrationId = Type.String({
  description: 'The `_id` or the `identifier` of the integration'
})

/** Adds, changes and removes single messages and integrations, lists integrations and workflows, and changes a step. */
export function recordRoutes(route: AddRoute, { seeds }: Services): void {
  const message = [
    ref(NewMessage),
    ref(MessagePatch),
    ref(MessageResponse),
    toMessageResponse
  ] as const
  const integration = [
    ref(NewIntegration),
    ref(IntegrationPatch),
    ref(Integration),
    toIntegrationResponse
  ] as const
  editRoutes(route, seeds, 'messages', 'a message', MessageId, ...message)
  editRoutes(route, seeds, 'integrations', 'an integration', IntegrationId, ...integration)

  route('GET', '/workflows', 'listWorkflows', 'List the workflows, with the ids of their steps', {
    response: listOf(
      'workflows',
      ref(ListedWorkflow),
      'All, in the order in which they were added'
    ),
    handler: async ({ environment }) => ({
      workflows: seeds
        .listWorkflows(environment)
        .map(({ _id, identifier, name, origin, steps }) => {
          return named(
            { _id, identifier, slug: slugOf(name, 'wf', _id), name, origin, steps },
            environment
          )
        })
    })
  })

  route('PATCH', '/workflows/:workflow/steps/:step', 'changeStep', 'Change a step of a workflow', {
    description:
      'Any field but `_id`: its control values, issues, variables, controls, name and type.',
    params: strictObject({ workflow: WorkflowId, step: StepId }),
    body: ref(StepPatch),
    response: ref(WorkflowStep),
    handler: async ({ environment, params, body }) =>
      named(seeds.changeStep(environment, params.workflow, params.step, body), environment)
  })

  route('GET', '/integrations', 'listIntegrations', 'List the integrations', {
    description: 'Soft-deleted ones too, each as set-primary answers with it in this environment.',
    response: listOf(
      'integrations',
      ref(Integration),
      'All, in the order in which they were added'
    ),
    handler: async ({ environment }) => ({
      integrations: seeds
        .listIntegrations(environment)
        .map((each) => toIntegrationResponse(each, environment))
    })
  })
}

/** Adds the routes that add, change and remove single records of a kind. They respond with the record as the API shows it. */
function editRoutes<Kind extends EditedKind>(
  route: AddRoute,
  seeds: Services['seeds'],
  kind: Kind,
  noun: string,
  id: TString,
  seed: TUnsafe<EditedSeeds[Kind]>,
  patch: TUnsafe<Patch<EditedSeeds[Kind]>>,
  response: TSchema,
  show: (record: EnvironmentData[Kind][number], environment: Environment) => object
): void {
  const name = kind === 'messages' ? 'Message' : 'Integration'
  const params = strictObject({ id })
  const path = `/${kind}/:id`
  route('POST', `/${kind}`, `add${name}`, `Add ${noun}`, {
    description: 'It is checked as in a seed.',
    body: seed,
    response,
    status: 201,
    errors: [409],
    handler: async ({ environment, body }) =>
      show(seeds.addRecord(kind, environment, body as EditedSeeds[Kind]), environment)
  })

  route('PATCH', path, `change${name}`, `Change ${noun}`, {
    description:
      'Any field but `_id`; what follows from it changes too, such as the addresses of a subscriber.',
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

/** Returns a record with the names that the environment assumes (assumption `vendor-names`). */
function named<Named extends object>(record: Named, { assumptions }: Environment): Named {
  return assumptions['vendor-names'] === 'vendor' ? withVendorNames(record) : record
}
