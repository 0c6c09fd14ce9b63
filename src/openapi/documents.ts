import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import swagger from '@fastify/swagger'
import type { TSchema } from '@sinclair/typebox'
import { type FastifyInstance, fastify } from 'fastify'
import { registerControl } from '../control/index.js'
import { healthRoute } from '../control/server/routes.js'
import {
  ASSUMPTION_IDS,
  type AssumptionId,
  type Assumptions,
  assume,
  valuesOf
} from '../domain/assumptions.js'
import { ErrorBody, ValidationErrorBody } from '../http/errors.js'
import { operationRoute } from '../http/operation.js'
import { COMPILERS } from '../http/validation.js'
import { OPERATIONS } from '../operations.js'
import { packageRoot, VERSION } from '../platform/package.js'
import { namedSchemas } from '../schema/typebox.js'
import type { ApiDocument } from './api-document.js'
import { applyAssumptions, type OpenApiDocument } from './apply-assumptions.js'
import { addExamples } from './examples.js'
import { describeControl, describeOperation, errorBodies } from './route-schemas.js'

/**
 * Caches documents for all servers in this process: one for each set of assumptions, and one for
 * the control routes. Callers must not modify a cached document.
 */
const cache = new Map<string, OpenApiDocument>()

/**
 * Returns the OpenAPI document that describes the operations of an environment with these
 * assumptions.
 */
export async function openApiDocument(assumptions: Assumptions): Promise<OpenApiDocument> {
  const key = JSON.stringify(assumptions)
  const document = cache.get(key) ?? (await createOpenApiDocument(assumptions))
  cache.set(key, document)
  return document
}

/**
 * For each assumption, returns one document for each alternative value. Only that assumption's
 * value differs from `assumptions`.
 */
export async function alternativeDocuments(
  assumptions: Assumptions
): Promise<Map<AssumptionId, OpenApiDocument[]>> {
  const alternatives = new Map<AssumptionId, OpenApiDocument[]>()
  for (const id of ASSUMPTION_IDS) {
    const others = valuesOf(id).filter((value) => value !== assumptions[id])
    const documents = others.map((value) => openApiDocument({ ...assumptions, [id]: value }))
    alternatives.set(id, await Promise.all(documents))
  }
  return alternatives
}

async function createOpenApiDocument(assumptions: Assumptions): Promise<OpenApiDocument> {
  const document = await describeRoutes(OPERATIONS_INFO, registerOperations, assumptions)
  document['x-assumptions'] = assumptions
  applyAssumptions(document, assumptions)
  const examples = readFileSync(join(packageRoot(), 'seeds/default.examples.json'), 'utf8')
  addExamples(document, JSON.parse(examples))
  return document
}

/** Returns the OpenAPI document that describes the control routes. */
export async function controlDocument(): Promise<ApiDocument> {
  const key = 'control'
  const document =
    cache.get(key) ??
    (await describeRoutes(CONTROL_INFO, registerControlRoutes, assume('document')))
  cache.set(key, document)
  return document
}

// These routes are only described, never called, so operations don't need a real handler, and
// control routes don't need services.
function registerOperations(app: FastifyInstance): void {
  for (const operation of OPERATIONS) {
    app.route({ ...operationRoute(operation), handler: () => {} })
  }
}

function registerControlRoutes(app: FastifyInstance): void {
  app.register(healthRoute)
  app.register(async (scope) => registerControl(scope, {} as never))
}

/**
 * Returns the document that @fastify/swagger creates for these routes. The plugin drops keywords
 * next to a `$ref`, so the document gets its schemas directly from the app.
 */
async function describeRoutes(
  info: object,
  registerRoutes: (app: FastifyInstance) => void,
  assumptions: Assumptions
): Promise<OpenApiDocument> {
  const app = fastify({ schemaController: { compilersFactory: COMPILERS } })
  app.addHook('onRoute', (route) => {
    // A control route for GET also serves HEAD, but the document should list only GET.
    const [firstMethod] = [route.method].flat()
    if (firstMethod) route.method = firstMethod
    const { operation, control } = route.config ?? {}
    if (operation) {
      addNamedSchemas(app, ...errorBodies(operation, assumptions).values(), operation.response)
    }
    if (control) {
      addNamedSchemas(app, ErrorBody, ValidationErrorBody, control.response, control.body)
    }
  })
  await app.register(swagger, {
    openapi: { openapi: '3.1.0', servers: [{ url: '/', description: 'This server' }], ...info },
    refResolver: { buildLocalReference: (schema) => String(schema.$id) },
    transform: ({ schema, url, route: { config } }) => {
      if (config?.operation) {
        return { schema: describeOperation(config.operation, assumptions), url }
      }
      return { schema: config?.control ? describeControl(config.control) : schema, url }
    }
  })
  registerRoutes(app)
  await app.ready()
  const document = structuredClone(app.swagger()) as unknown as OpenApiDocument
  document.components.schemas = componentSchemas(app)
  return document
}

function addNamedSchemas(app: FastifyInstance, ...described: (TSchema | undefined)[]): void {
  for (const schema of namedSchemas(...described)) {
    if (!app.getSchema(String(schema.$id))) app.addSchema(schema)
  }
}

/**
 * Returns all schemas of an app by name. Converts their references to the form that OpenAPI uses.
 */
function componentSchemas(app: FastifyInstance): Record<string, TSchema> {
  const schemas = Object.values(app.getSchemas() as Record<string, TSchema>)
  const byName = Object.fromEntries(schemas.map(({ $id, ...schema }) => [$id, schema]))
  return JSON.parse(JSON.stringify(byName), (key, value) =>
    key === '$ref' ? `#/components/schemas/${String(value).replace(/#$/, '')}` : value
  )
}

const CONTACT = { name: 'The maintainers of notification-mock' }

const OPERATIONS_INFO = {
  info: {
    title: 'notification-mock',
    version: VERSION,
    summary: "A mock server for three operations of Novu's API, for development and tests",
    description: `Three operations of Novu's notification API, with real state.

**API key:** every operation requires the header \`Authorization: ApiKey <key>\`. With the default
seed, you can use \`development-key\`. The key selects the environment. The examples use the default
seed.

**Errors:** every error has the fields of \`ErrorBody\`. The header \`x-mock-reason\` says which
check rejected the request, and how to fix the request. Any request may also get 404 or 405 (the
path or method isn't served), 408 (the request takes too long to arrive), 417 or 431 (the headers
can't be accepted), or 507 (the disk with the data file is full).

**Assumptions:** where the API reference leaves the behavior open, each environment has an
[assumption](/_mock/assumptions) that decides it. [/openapi.json](/openapi.json) describes the
environment that your API key belongs to. Without a key, it describes the server's default
assumptions.`,
    contact: CONTACT,
    license: { name: 'MIT', identifier: 'MIT' }
  },
  tags: [
    { name: 'Integrations', description: 'Connections between a channel and a delivery provider' },
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
          'The word `ApiKey`, a space and the key, for example `ApiKey development-key` with the ' +
          'default seed. The key selects the environment. The server prints its keys when it ' +
          'starts.'
      }
    }
  }
}

const CONTROL_INFO = {
  info: {
    title: 'notification-mock control',
    version: VERSION,
    description:
      'Create and reset environments, inspect and verify the requests that they received, inject ' +
      "faults, and control time. Routes about one environment require that environment's API key.",
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
      AdminToken: {
        type: 'http',
        scheme: 'bearer',
        description: "The server's admin token. Clients on the same machine don't need it"
      }
    }
  }
}
