import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import { requireEnvironment } from '../environments/plugin.js'
import { JSON_TYPE, StepErrorBody, WorkflowErrorBody } from '../http/errors.js'
import { enveloped, operationRoute } from '../http/operation.js'
import { defineOperation } from '../schema/operation.js'
import { strictObject } from '../schema/typebox.js'
import { WorkflowStep } from './schemas.js'
import type { WorkflowStepService } from './service.js'

export const retrieveWorkflowStep = defineOperation({
  id: 'retrieveWorkflowStep',
  method: 'GET',
  url: '/v2/workflows/:workflowId/steps/:stepId',
  summary: 'Retrieve workflow step',
  description:
    'Returns a workflow step with its controls, the schema of its variables, and its issues.',
  tag: 'Workflows',
  params: strictObject({
    workflowId: Type.String({ description: "The workflow's `_id`, identifier or slug" }),
    stepId: Type.String({ description: "The step's `_id`, `stepId` or slug" })
  }),
  response: WorkflowStep,
  enveloped: true,
  errors: [
    {
      status: 400,
      extendedBody: { schema: StepErrorBody, under: ['unknown-step', 'bad-request'] },
      example: '/v2/workflows/order-shipped/steps/none'
    },
    { status: 401 },
    {
      status: 404,
      extendedBody: { schema: WorkflowErrorBody, under: ['unknown-workflow', 'with-facts'] },
      example: '/v2/workflows/none/steps/email-step'
    }
  ],
  examples: {
    params: { workflowId: 'order-shipped', stepId: 'email-step' },
    idempotencyKey: 'retrieve-step-0001'
  }
})

export const workflowStepRoutes: FastifyPluginAsyncTypebox<{
  workflowSteps: WorkflowStepService
}> = async (app, { workflowSteps }) => {
  app.route({
    ...operationRoute(retrieveWorkflowStep),
    handler: (request, reply) => {
      const environment = requireEnvironment(request)
      const { workflowId, stepId } = request.params
      const step = workflowSteps.retrieve(environment, workflowId, stepId)
      reply.type(JSON_TYPE).send(enveloped(step, environment.assumptions))
    }
  })
}
