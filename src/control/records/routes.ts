import { Type } from '@sinclair/typebox'
import type { FastifyPluginAsync } from 'fastify'
import { slugOf } from '../../core/slug.js'
import { ref, strictObject } from '../../core/typebox.js'
import { withVendorNames } from '../../core/vendor-names.js'
import { controlRoutes, sendInChunks } from '../../http/control-route.js'
import { JSON_TYPE } from '../../http/errors.js'
import { Integration } from '../../integrations/schemas.js'
import { toIntegrationResponse } from '../../integrations/service.js'
import { MessageResponse } from '../../messages/schemas.js'
import { toMessageResponse } from '../../messages/service.js'
import { rejectAborted, withSeedErrors } from '../seed-requests.js'
import type { Services } from '../services.js'
import { IntegrationList, IntegrationPatch, MessagePatch, NewIntegration, NewMessage, WorkflowList } from './bodies.js'

const MessageParams = strictObject({ id: Type.String({ description: 'The `_id` of the message' }) })
const IntegrationParams = strictObject({
  id: Type.String({ description: 'The `_id` or the `identifier` of the integration' })
})

/** Adds, changes and removes single messages. */
export const messageRecordRoutes: FastifyPluginAsync<Services> = async (app, { seeds }) => {
  const route = controlRoutes(app, { tag: 'Records' })

  route('POST', '/messages', {
    id: 'addMessage',
    summary: 'Add a message',
    description: 'It is checked as in a seed, and answered as the list of messages shows it.',
    body: ref(NewMessage),
    response: ref(MessageResponse),
    status: 201,
    errors: [409],
    handler: async ({ environment, body }, reply) => {
      const message = await withSeedErrors(
        () => seeds.addMessage(environment, body, () => rejectAborted(reply)),
        'body'
      )
      return toMessageResponse(message, environment)
    }
  })

  route('PATCH', '/messages/:id', {
    id: 'changeMessage',
    summary: 'Change a message',
    description:
      'Any field but `_id`. With `subscriberId` its addresses change, with `workflow` what names the workflow and its step, with `channel` its address, provider and step.',
    params: MessageParams,
    body: ref(MessagePatch),
    response: ref(MessageResponse),
    errors: [404, 409],
    handler: async ({ environment, params, body }, reply) => {
      const check = () => rejectAborted(reply)
      const message = await withSeedErrors(() => seeds.changeMessage(environment, params.id, body, check), 'body')
      return toMessageResponse(message, environment)
    }
  })

  route('DELETE', '/messages/:id', {
    id: 'removeMessage',
    summary: 'Remove a message',
    params: MessageParams,
    errors: [404, 409],
    handler: ({ environment, params }, reply) => seeds.removeMessage(environment, params.id, () => rejectAborted(reply))
  })
}

/** Lists integrations, and adds, changes and removes single ones. */
export const integrationRecordRoutes: FastifyPluginAsync<Services> = async (app, { seeds }) => {
  const route = controlRoutes(app, { tag: 'Records' })

  route('GET', '/integrations', {
    id: 'listIntegrations',
    summary: 'List the integrations',
    description: 'Each as set-primary answers with it in this environment.',
    response: IntegrationList,
    handler: async (request, reply) => {
      const { environment } = request
      const documents = seeds.listIntegrations(environment)
      const pieces = jsonList('integrations', documents, (each) => toIntegrationResponse(each, environment))
      return sendInChunks(request, reply.type(JSON_TYPE), pieces)
    }
  })

  route('POST', '/integrations', {
    id: 'addIntegration',
    summary: 'Add an integration',
    description: 'It is checked as in a seed: a channel has at most one primary.',
    body: ref(NewIntegration),
    response: ref(Integration),
    status: 201,
    errors: [409],
    handler: async ({ environment, body }, reply) => {
      const check = () => rejectAborted(reply)
      const integration = await withSeedErrors(() => seeds.addIntegration(environment, body, check), 'body')
      return toIntegrationResponse(integration, environment)
    }
  })

  route('PATCH', '/integrations/:id', {
    id: 'changeIntegration',
    summary: 'Change an integration',
    description: 'Any field but `_id`.',
    params: IntegrationParams,
    body: ref(IntegrationPatch),
    response: ref(Integration),
    errors: [404, 409],
    handler: async ({ environment, params, body }, reply) => {
      const check = () => rejectAborted(reply)
      const integration = await withSeedErrors(
        () => seeds.changeIntegration(environment, params.id, body, check),
        'body'
      )
      return toIntegrationResponse(integration, environment)
    }
  })

  route('DELETE', '/integrations/:id', {
    id: 'removeIntegration',
    summary: 'Remove an integration',
    description: 'If it was the primary one, its channel has none then.',
    params: IntegrationParams,
    errors: [404, 409],
    handler: ({ environment, params }, reply) =>
      seeds.removeIntegration(environment, params.id, () => rejectAborted(reply))
  })
}

/** Lists workflows. */
export const workflowRecordRoutes: FastifyPluginAsync<Services> = async (app, { seeds }) => {
  const route = controlRoutes(app, { tag: 'Records' })

  route('GET', '/workflows', {
    id: 'listWorkflows',
    summary: 'List the workflows, with the ids of their steps',
    response: WorkflowList,
    handler: async (request, reply) => {
      const { environment } = request
      const pieces = jsonList('workflows', seeds.listWorkflows(environment), (workflow) => {
        const { _id, identifier, name, origin, steps } = workflow
        const listed = { _id, identifier, slug: slugOf(name, 'wf', _id), name, origin, steps }
        return environment.assumptions['vendor-names'] === 'vendor' ? withVendorNames(listed) : listed
      })
      return sendInChunks(request, reply.type(JSON_TYPE), pieces)
    }
  })
}

/** Returns an object with one list as JSON, piece by piece. */
function* jsonList<Item>(field: string, items: Iterable<Item>, toEntry: (item: Item) => object): Generator<string> {
  let separator = ''
  yield `{"${field}":[`
  for (const item of items) {
    yield separator + JSON.stringify(toEntry(item))
    separator = ','
  }
  yield ']}'
}
