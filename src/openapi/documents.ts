import { randomUUID } from 'node:crypto'
// Not when it is first needed: Node remembers for ever that a file could not be loaded, for want of file descriptors.
import swagger from '@fastify/swagger'
import type { TSchema } from '@sinclair/typebox'
import { type FastifyInstance, fastify } from 'fastify'
import { registerControl } from '../control/index.js'
import { buildServices } from '../control/services.js'
import { type Assumptions, assume } from '../core/assumptions.js'
import { VERSION } from '../core/package.js'
import { remembered } from '../core/remember.js'
import { runToEnd } from '../core/slices.js'
import { namedSchemas } from '../core/typebox.js'
import { openDatabase } from '../db/open.js'
import { ErrorBody, errorHandler } from '../http/errors.js'
import { parseQuery } from '../http/query-string.js'
import { COMPILERS } from '../http/validation.js'
import { readSeeds } from '../seeds/read.js'
import { applyAssumptions, type OpenApiDocument } from './assumptions.js'
import { describeControl, describeOperation } from './described-routes.js'
import { addExamples, EXAMPLE_TIME } from './examples.js'
import { registerOperations } from './operations.js'

/**
 * Returns the document of the three operations, as an environment with these assumptions serves them. It is made once in
 * a process, for all servers, and must not be changed.
 */
export const openApiDocument = remembered(async (assumptions: Assumptions): Promise<OpenApiDocument> => {
  const { db, close } = openDatabase()
  try {
    const defaults = { profile: 'document', assumptions } as const
    const services = buildServices({ db, clock: exampleClock, defaults, journal: 0 })
    runToEnd(services.seeds.seeding(readSeeds(['default'])))
    const app = await describedApp(
      OPERATIONS_INFO,
      (root) => {
        root.setErrorHandler(errorHandler(() => ({ now: exampleClock, uuid: randomUUID })))
        root.register(async (scope) => registerOperations(scope, services))
      },
      assumptions
    )
    const document = documentOf(app)
    document['x-assumptions'] = assumptions
    applyAssumptions(document, assumptions)
    await addExamples(document, app)
    return document
  } finally {
    close()
  }
})

/** Returns the document of the control routes, likewise. */
export const controlDocument = remembered(async (): Promise<object> => {
  // It serves no request, and so needs no services.
  return documentOf(await describedApp(CONTROL_INFO, (scope) => registerControl(scope, {} as never)))
})

/** Returns a copy of the document. @fastify/swagger drops what stands beside a reference, so the schemas are ours. */
function documentOf(app: FastifyInstance): OpenApiDocument {
  const document = structuredClone(app.swagger()) as unknown as OpenApiDocument
  const schemas = Object.values(app.getSchemas() as Record<string, TSchema>)
  const byName = Object.fromEntries(schemas.map(({ $id, ...schema }) => [$id, schema]))
  const json = JSON.stringify(byName).replace(/"\$ref":"(\w+)#"/g, '"$ref":"#/components/schemas/$1"')
  document.components.schemas = JSON.parse(json)
  return document
}

const exampleClock = () => EXAMPLE_TIME

/** Returns an app that has nothing but these routes, and whose document @fastify/swagger can make. */
async function describedApp(
  info: object,
  registerRoutes: (app: FastifyInstance) => void,
  assumptions = assume('document')
): Promise<FastifyInstance> {
  const app = fastify({
    routerOptions: { querystringParser: parseQuery as never },
    schemaController: { compilersFactory: COMPILERS }
  })
  app.addHook('onRoute', (route) => {
    const { config, method } = route
    // Without HEAD, which goes without saying.
    route.method = [method].flat()[0] ?? method
    const { response, body }: { response?: TSchema; body?: TSchema } = config?.operation ?? config?.control ?? {}
    for (const schema of namedSchemas(ErrorBody, response, body)) {
      if (!app.getSchema(String(schema.$id))) app.addSchema(schema)
    }
  })
  await app.register(swagger, {
    openapi: { openapi: '3.1.0', servers: [{ url: '/', description: 'This server' }], ...info },
    refResolver: { buildLocalReference: (schema) => String(schema.$id) },
    transform: ({ schema, url, route: { config } }) => {
      if (config?.operation) return { schema: describeOperation(config.operation, assumptions), url }
      return { schema: config?.control ? describeControl(config.control) : schema, url }
    }
  })
  registerRoutes(app)
  await app.ready()
  return app
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
      ApiKey: { type: 'apiKey', in: 'header', name: 'Authorization', description: '`ApiKey <key>`' },
      AdminToken: { type: 'http', scheme: 'bearer', description: 'Not needed on loopback' }
    }
  }
}
