import { type Static, type TObject, type TUnsafe, Type } from '@sinclair/typebox'
import { ORIGINS } from '../../core/enums.js'
import { slugOf } from '../../core/slug.js'
import { namedObject, ref, strictObject, targetOf } from '../../core/typebox.js'
import { withVendorNames } from '../../core/vendor-names.js'
import type { Environment } from '../../environments/service.js'
import { type AddRoute, listOf } from '../../http/control-route.js'
import { Integration } from '../../integrations/schemas.js'
import { toIntegrationResponse } from '../../integrations/service.js'
import { MessageResponse } from '../../messages/schemas.js'
import { toMessageResponse } from '../../messages/service.js'
import { SeedIntegration, SeedMessage, SeedStep } from '../../seeds/format.js'
import type { Patch } from '../../seeds/records.js'
import { WorkflowStep } from '../../workflow-steps/schemas.js'
import type { Services } from '../services.js'

const NEW_MESSAGE = 'A message as in a seed; without createdAt it is of now, by the clock of the environment'
export const NewMessage = namedObject('NewMessage', NEW_MESSAGE, SeedMessage.properties)
export type NewMessage = Static<typeof NewMessage>

export const MessagePatch = patchOf<SeedMessage>('MessagePatch', SeedMessage)
export type MessagePatch = Static<typeof MessagePatch>

const NEW_INTEGRATION = 'An integration as in a seed'
export const NewIntegration = namedObject('NewIntegration', NEW_INTEGRATION, SeedIntegration.properties)
export type NewIntegration = Static<typeof NewIntegration>

export const IntegrationPatch = patchOf<SeedIntegration>('IntegrationPatch', SeedIntegration)
export type IntegrationPatch = Static<typeof IntegrationPatch>

export const StepPatch = patchOf<SeedStep>('StepPatch', SeedStep)
export type StepPatch = Static<typeof StepPatch>

/** Returns the schema of a change: any of the fields but `_id`, or null in place of one. */
function patchOf<RecordSeed>($id: string, { properties }: TObject): TUnsafe<Patch<RecordSeed>> {
  const { _id, ...fields } = properties
  const nullable = Object.entries(fields).map(([name, field]) => {
    const { description = field.$ref && targetOf(field).description } = field
    return [name, Type.Optional(Type.Union([field, Type.Null()], description && { description }))]
  })
  const description = 'The fields to change; null removes one that may be left out'
  return Type.Unsafe<Patch<RecordSeed>>(strictObject(Object.fromEntries(nullable), { $id, description }))
}

const ListedStep = strictObject(Type.Pick(WorkflowStep, ['_id', 'stepId', 'slug', 'name', 'type']).properties)

export const ListedWorkflow = namedObject('ListedWorkflow', 'A workflow, and what its steps are asked for by', {
  _id: Type.String({ description: 'Record identifier of the workflow' }),
  identifier: Type.String({ description: 'Unique identifier of the workflow' }),
  slug: Type.String({ description: 'Its slug' }),
  name: Type.String({ description: 'Display name' }),
  origin: Type.String({ description: `Where it was created: ${ORIGINS.join(', ')}, or the vendor's names of these` }),
  steps: Type.Array(ListedStep, { description: 'Its steps, in their order' })
})
export type ListedWorkflow = Static<typeof ListedWorkflow>

const MessageId = Type.String({ description: 'The `_id` of the message' })
const WorkflowId = Type.String({ description: 'The `_id` or the `identifier` of the workflow' })
const StepId = Type.String({ description: 'The `_id` or the `stepId` of the step' })
const IntegrationId = Type.String({ description: 'The `_id` or the `identifier` of the integration' })

/** Adds, changes and removes single messages and integrations, lists integrations and workflows, and changes a step. */
export function recordRoutes(route: AddRoute, { seeds }: Services): void {
  route('POST', '/messages', 'addMessage', 'Add a message', {
    description: 'It is checked as in a seed, and answered as the list of messages shows it.',
    body: ref(NewMessage),
    response: ref(MessageResponse),
    status: 201,
    errors: [409],
    handler: async ({ environment, body }) =>
      toMessageResponse(seeds.addRecord('messages', environment, body), environment)
  })

  route('PATCH', '/messages/:id', 'changeMessage', 'Change a message', {
    description:
      'Any field but `_id`. With `subscriberId` its addresses change, with `workflow` what names the workflow and its step, with `channel` its address, provider and step.',
    params: strictObject({ id: MessageId }),
    body: ref(MessagePatch),
    response: ref(MessageResponse),
    handler: async ({ environment, params, body }) =>
      toMessageResponse(seeds.changeRecord('messages', environment, params.id, body), environment)
  })

  route('DELETE', '/messages/:id', 'removeMessage', 'Remove a message', {
    params: strictObject({ id: MessageId }),
    handler: async ({ environment, params }) => seeds.removeRecord('messages', environment, params.id)
  })

  route('GET', '/workflows', 'listWorkflows', 'List the workflows, with the ids of their steps', {
    response: listOf('workflows', ref(ListedWorkflow), 'All, in the order in which they were added'),
    handler: async ({ environment }) => ({
      workflows: seeds.listWorkflows(environment).map(({ _id, identifier, name, origin, steps }) => {
        return named({ _id, identifier, slug: slugOf(name, 'wf', _id), name, origin, steps }, environment)
      })
    })
  })

  route('PATCH', '/workflows/:workflow/steps/:step', 'changeStep', 'Change a step of a workflow', {
    description: 'Any field but `_id`: its control values, issues, variables, controls, name and type.',
    params: strictObject({ workflow: WorkflowId, step: StepId }),
    body: ref(StepPatch),
    response: ref(WorkflowStep),
    handler: async ({ environment, params, body }) =>
      named(seeds.changeStep(environment, params.workflow, params.step, body), environment)
  })

  route('GET', '/integrations', 'listIntegrations', 'List the integrations', {
    description: 'Soft-deleted ones too, each as set-primary answers with it in this environment.',
    response: listOf('integrations', ref(Integration), 'All, in the order in which they were added'),
    handler: async ({ environment }) => ({
      integrations: seeds.listIntegrations(environment).map((each) => toIntegrationResponse(each, environment))
    })
  })

  route('POST', '/integrations', 'addIntegration', 'Add an integration', {
    description: 'It is checked as in a seed: a channel has at most one primary.',
    body: ref(NewIntegration),
    response: ref(Integration),
    status: 201,
    errors: [409],
    handler: async ({ environment, body }) =>
      toIntegrationResponse(seeds.addRecord('integrations', environment, body), environment)
  })

  route('PATCH', '/integrations/:id', 'changeIntegration', 'Change an integration', {
    description: 'Any field but `_id`.',
    params: strictObject({ id: IntegrationId }),
    body: ref(IntegrationPatch),
    response: ref(Integration),
    errors: [409],
    handler: async ({ environment, params, body }) =>
      toIntegrationResponse(seeds.changeRecord('integrations', environment, params.id, body), environment)
  })

  route('DELETE', '/integrations/:id', 'removeIntegration', 'Remove an integration', {
    description: 'If it was the primary one, its channel has none then.',
    params: strictObject({ id: IntegrationId }),
    handler: async ({ environment, params }) => seeds.removeRecord('integrations', environment, params.id)
  })
}

/** Returns a record with the names that the environment assumes (assumption `vendor-names`). */
function named<Named extends object>(record: Named, { assumptions }: Environment): Named {
  return assumptions['vendor-names'] === 'vendor' ? withVendorNames(record) : record
}
