import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import swagger from '@fastify/swagger'
import type { TSchema } from '@sinclair/typebox'
import { type FastifyInstance, fastify } from 'fastify'
import { registerControl } from '../control/index.js'
import { healthRoute } from '../control/server/routes.js'
import { type Assumptions, assume } from '../domain/assumptions.js'
import { ErrorBody } from '../http/errors.js'
import { operationRoute } from '../http/operation.js'
import { COMPILERS } from '../http/validation.js'
import { OPERATIONS } from '../operations.js'
import { packageRoot, VERSION } from '../platform/package.js'
import { namedSchemas } from '../schema/typebox.js'
import { addExamples, applyAssumptions, type OpenApiDocument } from './assumptions.js'
import { describeControl, describeOperation } from './described-routes.js'

/** Documents that have been made, for all servers of the process. They must not be changed. */
const made = new Map<string, OpenApiDocument>()

async function once(key: string, make: () => Promise<OpenApiDocument>): Promise<OpenApiDocument> {
  const document = made.get(key) ?? (await make())
  made.set(key, document)
  return document
}

/** Returns the document of the operations, as an environment with these assumptions serves them. */
export const openApiDocument = (assumptions: Assumptions): Promise<OpenApiDocument> =>
  once(JSON.stringify(assumptions), async () => {
    const document = await documentOf(OPERATIONS_INFO, registerOperations, assumptions)
    document['x-assumptions'] = assumptions
    applyAssumptions(document, assumptions)
    addExamples(
      document,
      JSON.parse(readFileSync(join(packageRoot(), 'seeds/default.examples.json'), 'utf8'))
    )
    return document
  })

/** Returns the document of the control routes. */
export const controlDocument = (): Promise<object> =>
  once('control', () => documentOf(CONTROL_INFO, registerRoutes))

// Apps that are only described: they serve no request, and so need no services.
function registerOperations(app: FastifyInstance): void {
  for (const operation of OPERATIONS) app.route({ ...operationRoute(operation), handler: () => {} })
}

function registerRoutes(app: FastifyInstance): void {
  app.register(healthRoute)
  app.register(async (scope) => registerControl(scope, {} as never))
}

/** Returns what @fastify/swagger makes of routes. It drops what stands beside a reference, so the schemas are ours. */
async function documentOf(
  info: object,
  registerRoutes: (app: FastifyInstance) => unknown,
  assumptions = assume('document')
): Promise<OpenApiDocument> {
  const app = fastify({ schemaController: { compilersFactory: COMPILERS } })
  app.addHook('onRoute', (route) => {
    const { config, method } = route
    route.method = [method].flat()[0] ?? method
    const { response, body }: { response?: TSchema; body?: TSchema } =
      config?.operation ?? config?.control ?? {}
    for (const schema of namedSchemas(ErrorBody, response, body)) {
      if (!app.getSchema(String(schema.$id))) app.addSchema(schema)
    }
  })
  await app.register(swagger, {
    openapi: { openapi: '3.1.0', servers: [{ url: '/', description: 'This server' }], ...info },
    refResolver: { buildLocalReference: (schema) => String(schema.$id) },
    transform: ({ schema, url, route: { config } }) => {
      if (config?.operation)
        return { schema: describeOperation(config.operation, assumptions), url }
      return { schema: config?.control ? describeControl(config.control) : schema, url }
    }
  })
  registerRoutes(app)
  await app.ready()
  const document = structuredClone(app.swagger()) as unknown as OpenApiDocument
  const schemas = Object.values(app.getSchemas() as Record<string, TSchema>)
  const byName = Object.fromEntries(schemas.map(({ $id, ...schema }) => [$id, schema]))
  const json = JSON.stringify(byName).replace(
    /"\$ref":"(\w+)#"/g,
    '"$ref":"#/components/schemas/$1"'
  )
  document.components.schemas = JSON.parse(json)
  return document
}

const CONTACT = { name: 'The maintainers of notification-mock' }

const OPERATIONS_INFO = {
  info: {
    title: 'notification-mock',
    version: VERSION,
    summary: 'A stand-in for a notification service, for development and tests',
    description: `Three operations, served on real state.

**Try it:** press Authorize and enter \`ApiKey development-key\`, with the word \`ApiKey\`; then open an operation and
press Execute. The examples are of the default seed.

**Errors** all have the one body \`ErrorBody\`, and a header \`x-mock-reason\` that says which check rejected the request
and how to pass it. Any request may also be rejected with 404, 405 or 501 (there is no such route), 408, 417 or 431
(its headers can't be accepted) and 507 (the disk of the data file is full).

**Assumptions** settle what the real service leaves open, for each environment: see
[/_mock/assumptions](/_mock/assumptions). The document at [/openapi.json](/openapi.json) is that of the environment
whose key is sent with the request for it, and without a key that of the server.`,
    contact: CONTACT,
    license: { name: 'MIT', identifier: 'MIT' }
  },
  tags: [
    { name: 'Integrations', description: 'Connections of channels to delivery providers' },
    { name: 'Messages', description: 'Notifications that were delivered or attempted' },
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
}

const CONTROL_INFO = {
  info: {
    title: 'notification-mock control',
    version: VERSION,
    description:
      'Create environments and reset them, look at and verify the requests they received, inject faults, and control time. Routes about one environment take its own API key.',
    contact: CONTACT,
    license: { name: 'MIT', identifier: 'MIT' }
  },
  components: {
    securitySchemes: {
      ApiKey: {
        type: 'apiKey',
        in: 'header',
        name: 'Authorization',
        description: '`ApiKey <key>`'
      },
      AdminToken: { type: 'http', scheme: 'bearer', description: 'Not needed on loopback' }
    }
  }
}
