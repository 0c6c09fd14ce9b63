import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { Assumptions } from '../core/assumptions.js'
import { strictObject } from '../core/typebox.js'
import { enveloped, envelopedSchema } from '../http/envelope.js'
import { JSON_TYPE } from '../http/errors.js'
import { operationSchema } from '../http/operation.js'
import { WorkflowStep } from './schemas.js'
import type { WorkflowStepService } from './service.js'

interface Options {
  workflowSteps: WorkflowStepService
  /** What the published document assumes. */
  assumptions: Assumptions
}

export const workflowStepRoutes: FastifyPluginAsyncTypebox<Options> = async (app, { workflowSteps, assumptions }) => {
  app.get(
    '/workflows/:workflowId/steps/:stepId',
    {
      schema: operationSchema({
        operationId: 'retrieveWorkflowStep',
        summary: 'Retrieve workflow step',
        description: 'One step of a workflow, with its controls, the schema of its variables, and its issues.',
        tag: 'Workflows',
        params: strictObject({
          workflowId: Type.String({ description: "The workflow's `_id`, identifier or slug" }),
          stepId: Type.String({ description: "The step's `_id`, `stepId` or slug" })
        }),
        answer: envelopedSchema(WorkflowStep, assumptions),
        refusals: [400, 401, 404]
      })
    },
    ({ environment, params }, reply) => {
      const step = workflowSteps.retrieve(environment, params.workflowId, params.stepId)
      reply.type(JSON_TYPE).send(enveloped(step, environment.assumptions))
    }
  )
}
