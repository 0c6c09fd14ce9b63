import type { TSchema } from '@sinclair/typebox'
import { type FastifyInstance, fastify } from 'fastify'
import type { Assumptions } from '../assumptions.js'
import { integrationRoutes } from '../integrations/routes.js'
import { integrationSchemas } from '../integrations/schemas.js'
import { messageRoutes } from '../messages/routes.js'
import { messageSchemas } from '../messages/schemas.js'
import { VENDOR_NAMES } from '../vendor-names.js'
import { VERSION } from '../version.js'
import { workflowStepRoutes } from '../workflow-steps/routes.js'
import { workflowStepSchemas } from '../workflow-steps/schemas.js'
import { NO_COMPILERS } from './compilers.js'
import { ErrorBody } from './errors.js'

/** Every named schema of the contract, dependencies first. */
export const wireSchemas: readonly TSchema[] = [...integrationSchemas, ...messageSchemas, ...workflowStepSchemas]

/** An OpenAPI 3.1 document; what it says depends on the assumptions. */
export type OpenApiDocument = Record<string, unknown>

/**
 * An app that serves nothing but knows the three operations, from which @fastify/swagger makes the document once it is
 * ready. Apart from the server proper, so that starting that one does not pay for it.
 */
export async function describedApp(assumptions: Assumptions): Promise<FastifyInstance> {
  const { default: swagger } = await import('@fastify/swagger')
  const app = fastify({ schemaController: { compilersFactory: NO_COMPILERS } })
  for (const schema of [...wireSchemas, ErrorBody]) app.addSchema(asShown(schema, assumptions))
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'notification-mock',
        version: VERSION,
        license: { name: 'MIT', identifier: 'MIT' },
        description:
          'Three operations of a notification service, served on real state by a stand-in for development and tests.'
      },
      servers: [{ url: '/', description: 'This server' }],
      tags: [
        { name: 'Integrations', description: 'Connections of channels to delivery providers' },
        { name: 'Messages', description: 'Notifications delivered, or attempted' },
        { name: 'Workflows', description: 'Workflows and their steps' }
      ],
      components: {
        securitySchemes: {
          ApiKey: {
            type: 'apiKey',
            in: 'header',
            name: 'Authorization',
            description: '`ApiKey <key>`: the key decides in which environment a request acts'
          }
        }
      }
    },
    refResolver: { buildLocalReference: (schema) => String(schema.$id) }
  })
  const services = new Proxy({}, { get: () => undefined }) as never
  await app.register(integrationRoutes, { prefix: '/v1', integrations: services, idempotency: services, assumptions })
  await app.register(messageRoutes, { prefix: '/v1', messages: services, assumptions })
  await app.register(workflowStepRoutes, { prefix: '/v2', workflowSteps: services, assumptions })
  return app
}

/** The document of the three operations, as an environment with these assumptions serves them. */
export async function openApiDocument(assumptions: Assumptions): Promise<OpenApiDocument> {
  const app = await describedApp(assumptions)
  await app.ready()
  return app.swagger() as unknown as OpenApiDocument
}

function asShown(schema: TSchema, assumptions: Assumptions): TSchema {
  const copy = structuredClone(schema) as TSchema
  if (assumptions['vendor-names'] === 'vendor') translateWords(copy)
  if (copy.$id === 'ControlsMetadata' && assumptions['control-values'] === 'twice') {
    copy.properties.values = {
      type: 'object',
      additionalProperties: true,
      description: 'The control values, the same as `controlValues`'
    }
  }
  return copy
}

function translateWords(node: unknown): void {
  if (typeof node !== 'object' || node === null) return
  const words = (node as { enum?: unknown }).enum
  if (Array.isArray(words)) {
    for (const [place, word] of words.entries()) words[place] = VENDOR_NAMES[word] ?? word
  }
  for (const inner of Object.values(node)) translateWords(inner)
}
