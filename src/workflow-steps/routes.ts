import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import { strictObject } from '../core/typebox.js'
import { enveloped } from '../http/envelope.js'
import { JSON_TYPE } from '../http/errors.js'
import { defineOperation, type ErrorExample, operationRoute } from '../http/operation.js'
import { WorkflowStep } from './schemas.js'
import type { WorkflowStepService } from './service.js'

export const retrieveWorkflowStep = defineOperation({
  id: 'retrieveWorkflowStep',
  method: 'GET',
  url: '/v2/workflows/:workflowId/steps/:stepId',
  summary: 'Retrieve workflow step',
  description: 'One step of a workflow, with its controls, the schema of its variables, and its issues.',
  tag: 'Workflows',
  params: strictObject({
    workflowId: Type.String({ description: "The workflow's `_id`, identifier or slug" }),
    stepId: Type.String({ description: "The step's `_id`, `stepId` or slug" })
  }),
  response: WorkflowStep,
  enveloped: true,
  errors: [400, 401, 404],
  examples: {
    params: { workflowId: 'order-shipped', stepId: 'email-step' },
    errors: (_path, assumptions) => ({
      ...(assumptions['unknown-step'] === 'bad-request' && { 400: STEP_NOT_FOUND }),
      404: assumptions['unknown-workflow'] === 'with-facts' ? WORKFLOW_NOT_FOUND_WITH_FACTS : WORKFLOW_NOT_FOUND
    })
  }
})

const STEP_NOT_FOUND: ErrorExample = {
  path: '/v2/workflows/order-shipped/steps/none',
  message: 'No step found',
  ctx: { stepId: 'none', workflowId: 'order-shipped' },
  stepId: 'none',
  workflowId: 'order-shipped'
}
const WORKFLOW_NOT_FOUND: ErrorExample = {
  path: '/v2/workflows/none/steps/email-step',
  message: 'Workflow with id none not found'
}
const WORKFLOW_NOT_FOUND_WITH_FACTS: ErrorExample = {
  path: '/v2/workflows/none/steps/email-step',
  message: 'Workflow cannot be found',
  ctx: { workflowId: 'none' },
  workflowId: 'none'
}

interface Options {
  workflowSteps: WorkflowStepService
}

export const workflowStepRoutes: FastifyPluginAsyncTypebox<Options> = async (app, { workflowSteps }) => {
  app.route({
    ...operationRoute(retrieveWorkflowStep),
    handler: ({ environment, params }, reply) => {
      const step = workflowSteps.retrieve(environment, params.workflowId, params.stepId)
      reply.type(JSON_TYPE).send(enveloped(step, environment.assumptions))
    }
  })
}
