import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import { DomainError } from '../domain/errors.js'
import { requireEnvironment } from '../environments/plugin.js'
import { enveloped, operationRoute } from '../http/operation.js'
import { bodyOf, claimKey, withIdempotency } from '../idempotency/plugin.js'
import type { IdempotencyService } from '../idempotency/service.js'
import { defineOperation } from '../schema/operation.js'
import { strictObject } from '../schema/typebox.js'
import { Integration } from './schemas.js'
import type { IntegrationService } from './service.js'

export const setIntegrationAsPrimary = defineOperation({
  id: 'setIntegrationAsPrimary',
  method: 'POST',
  url: '/v1/integrations/:integrationId/set-primary',
  summary: 'Set integration as primary',
  description:
    "Makes an integration the environment's only primary integration for its channel, activates " +
    'it and removes its conditions.',
  tag: 'Integrations',
  params: strictObject({
    integrationId: Type.String({
      description:
        "The integration's `_id`, or its `identifier` if the assumption `integration-lookup` " +
        'allows it'
    })
  }),
  response: Integration,
  enveloped: true,
  errors: [
    { status: 400 },
    { status: 401 },
    {
      status: 403,
      under: ['foreign-integration', 'forbidden'],
      example: '/v1/integrations/6703aa1c5d2e8b0013b70001/set-primary'
    },
    { status: 404, example: '/v1/integrations/66f1c2a47c9b1a0012adffff/set-primary' },
    { status: 409 },
    { status: 413 },
    { status: 422, code: 'key-reused' },
    {
      status: 422,
      under: ['integration-lookup', 'id'],
      example: '/v1/integrations/none/set-primary'
    }
  ],
  idempotent: true,
  examples: {
    params: { integrationId: '66f1c2a47c9b1a0012ad0001' },
    idempotencyKey: 'set-primary-0001'
  }
})

interface Options {
  integrations: IntegrationService
  idempotency: IdempotencyService
}

export const integrationRoutes: FastifyPluginAsyncTypebox<Options> = async (
  app,
  { integrations, idempotency }
) => {
  app.route({
    ...operationRoute(setIntegrationAsPrimary, claimKey(idempotency)),
    handler: (request, reply) => {
      withIdempotency(request, reply, idempotency, () => {
        const environment = requireEnvironment(request)
        const { integrationId } = request.params
        rejectMalformedJson(bodyOf(request), request.headers)
        const { integration, changes } = integrations.setPrimary(environment, integrationId)
        request.changed = changes
        return enveloped(Buffer.from(integration), environment.assumptions)
      })
    }
  })
}

/**
 * Throws `bad-request` if the body is malformed JSON. The operation doesn't use the body, but
 * malformed JSON points to a bug in the client.
 */
function rejectMalformedJson(body: Buffer, headers: IncomingHttpHeaders): void {
  const claimsJson = /^application\/(.+\+)?json\s*(;|$)/i.test(headers['content-type'] ?? '')
  if (!claimsJson || body.length === 0 || headers['content-encoding'] !== undefined) return
  if (isJson(body)) return
  const reason =
    'the content-type is JSON, but the body is not; ' +
    'omit the body, because this operation ignores it'
  throw new DomainError('bad-request', 'Malformed JSON in the request body', { reason })
}

function isJson(body: Buffer): boolean {
  try {
    JSON.parse(body.toString())
    return true
  } catch {
    return false
  }
}
