import type { TSchema } from '@sinclair/typebox'
import { type FastifyInstance, fastify } from 'fastify'
import { clockRoutes, environmentRoutes, stateRoutes } from '../control/environments/routes.js'
import { faultRoutes } from '../control/faults/routes.js'
import { faultSchemas } from '../control/faults/schemas.js'
import { journalRoutes, keylessRequestRoutes } from '../control/requests/routes.js'
import { journalSchemas } from '../control/requests/schemas.js'
import { controlRoutes, healthRoute } from '../control/server-routes.js'
import type { Assumptions } from '../core/assumptions.js'
import { VERSION } from '../core/version.js'
import { environmentSchemas } from '../environments/schemas.js'
import { NO_COMPILERS } from '../http/compilers.js'
import { ErrorBody } from '../http/errors.js'
import { integrationRoutes } from '../integrations/routes.js'
import { integrationSchemas } from '../integrations/schemas.js'
import { messageRoutes } from '../messages/routes.js'
import { messageSchemas } from '../messages/schemas.js'
import { workflowStepRoutes } from '../workflow-steps/routes.js'
import { workflowStepSchemas } from '../workflow-steps/schemas.js'
import { asAssumed } from './assumed.js'
import type { OpenApiDocument } from './document.js'
import { withExamples } from './examples.js'

/** Every named schema of the contract, dependencies first. */
export const wireSchemas: readonly TSchema[] = [...integrationSchemas, ...messageSchemas, ...workflowStepSchemas]

/**
 * An app that serves nothing but knows the three operations, from which @fastify/swagger makes the document once it is
 * ready. Apart from the server proper, so that starting that one does not pay for it.
 */
export async function describedApp(assumptions: Assumptions): Promise<FastifyInstance> {
  const { default: swagger } = await import('@fastify/swagger')
  const app = fastify({ schemaController: { compilersFactory: NO_COMPILERS } })
  for (const schema of [...wireSchemas, ErrorBody]) app.addSchema(schema)
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'notification-mock',
        version: VERSION,
        summary: 'A stand-in for a notification service, for development and tests',
        description: DESCRIPTION,
        license: { name: 'MIT', identifier: 'MIT' }
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
            description:
              'The word `ApiKey`, a space and the key: `ApiKey development-key` with the default seed. The key decides in which environment a request acts; the keys are printed when the server starts.'
          }
        }
      }
    },
    refResolver: { buildLocalReference: (schema) => String(schema.$id) },
    transformObject: (made) => {
      const document = structuredClone('openapiObject' in made ? made.openapiObject : {}) as OpenApiDocument
      restoreExamples(document)
      document['x-assumptions'] = assumptions
      asAssumed(document, assumptions)
      withExamples(document, assumptions)
      return document as object
    }
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

/** The named schemas of the control routes. */
const controlSchemas: readonly TSchema[] = [ErrorBody, ...journalSchemas, ...faultSchemas, ...environmentSchemas]

/** The document of the control routes. */
export async function controlDocument(): Promise<object> {
  const { default: swagger } = await import('@fastify/swagger')
  const app = fastify({ schemaController: { compilersFactory: NO_COMPILERS } })
  for (const schema of controlSchemas) app.addSchema(schema)
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'notification-mock control',
        version: VERSION,
        description:
          'Environments as worlds: make them, set them back, watch them, verify them, break them, move their time. Routes about one environment take its own API key.',
        license: { name: 'MIT', identifier: 'MIT' }
      },
      servers: [{ url: '/', description: 'This server' }],
      components: {
        securitySchemes: {
          ApiKey: { type: 'apiKey', in: 'header', name: 'Authorization', description: '`ApiKey <key>`' },
          AdminToken: { type: 'http', scheme: 'bearer', description: 'Not needed on loopback' }
        }
      }
    },
    refResolver: { buildLocalReference: (schema) => String(schema.$id) }
  })
  const services = new Proxy({}, { get: () => undefined }) as never
  const options = { prefix: '/_mock', environments: services, seeds: services, journals: services, faults: services }
  app.register(environmentRoutes, options)
  app.register(stateRoutes, options)
  app.register(journalRoutes, options)
  app.register(keylessRequestRoutes, options)
  app.register(faultRoutes, options)
  app.register(clockRoutes, options)
  app.register(healthRoute, { readiness: services })
  app.register(controlRoutes, { assumptions: services, document: services })
  await app.ready()
  return app.swagger()
}

/** @fastify/swagger takes `$schema` and the like out of an example too, as if it were itself a schema. */
function restoreExamples({ components }: OpenApiDocument): void {
  for (const { $id = '', examples } of wireSchemas) {
    const schema = components.schemas[$id]
    if (schema && examples) schema.examples = structuredClone(examples)
  }
}

const DESCRIPTION = `Three operations, served on real state.

**Try it:** press Authorize and enter \`ApiKey development-key\`, with the word \`ApiKey\`; then open an operation and
press Execute. The examples are of the default seed.

**Refusals** all have the one body \`ErrorBody\`, and a header \`x-mock-reason\` that says which check refused and what
would satisfy it. Before a request comes to an operation it may also be refused with 404, 405 or 501 (there is no such
route) and 408, 417 or 431 (its head is at fault).

**Assumptions** settle what the real service leaves open, for each environment: see
[/_mock/assumptions](/_mock/assumptions). The document at [/openapi.json](/openapi.json) is that of the environment
whose key is sent with the request for it, and without a key that of the server.`
