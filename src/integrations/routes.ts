import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'
import type { Assumptions } from '../core/assumptions.js'
import { DomainError } from '../core/errors.js'
import { strictObject } from '../core/typebox.js'
import { enveloped, envelopedSchema } from '../http/envelope.js'
import { operationSchema } from '../http/operation.js'
import { bodyOf, withIdempotency } from '../idempotency/plugin.js'
import type { IdempotencyService } from '../idempotency/service.js'
import { Integration } from './schemas.js'
import type { IntegrationService } from './service.js'

interface Options {
  integrations: IntegrationService
  idempotency: IdempotencyService
  /** What the published document assumes. */
  assumptions: Assumptions
}

export const integrationRoutes: FastifyPluginAsyncTypebox<Options> = async (app, options) => {
  const { integrations, idempotency, assumptions } = options
  app.post(
    '/integrations/:integrationId/set-primary',
    {
      schema: operationSchema({
        operationId: 'setIntegrationAsPrimary',
        summary: 'Set integration as primary',
        description:
          'Makes an integration the one primary of its channel in the environment that the API key belongs to. It becomes active and loses its conditions; every other integration of the channel steps down.',
        tag: 'Integrations',
        params: strictObject({
          integrationId: Type.String({
            description:
              "The integration's `_id`, or its `identifier` where the assumption `integration-lookup` allows it"
          })
        }),
        answer: envelopedSchema(Integration, assumptions),
        refusals: [400, 401, 403, 404, 409, 413, 422],
        replayable: true
      })
    },
    (request, reply) => {
      withIdempotency(request, reply, idempotency, () => {
        refuseMalformedJson(request)
        const { environment, params } = request
        const integration = integrations.setPrimary(environment, params.integrationId)
        return enveloped(Buffer.from(integration), environment.assumptions)
      })
    }
  )
}

/** A body has no meaning here, but one that says it is JSON and isn't shows a client at fault. */
function refuseMalformedJson(request: FastifyRequest): void {
  const body = bodyOf(request)
  const isJson = /^application\/(.+\+)?json\s*(;|$)/i.test(request.headers['content-type'] ?? '')
  if (!isJson || body.length === 0 || request.headers['content-encoding'] !== undefined) return
  try {
    JSON.parse(body.toString())
  } catch {
    throw new DomainError('bad-request', 'Malformed JSON in the request body', {
      reason: 'the content-type says JSON but the body is not: send no body at all, the operation takes none'
    })
  }
}
