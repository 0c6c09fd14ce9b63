import type { FastifyInstance, FastifyPluginCallback } from 'fastify'
import type { Assumptions } from '../domain/assumptions.js'
import { createFieldErrors, DomainError } from '../domain/errors.js'
import { authentication } from '../environments/plugin.js'
import { faultRoutes } from '../faults/routes.js'
import { type AddRoute, controlRequests, controlRoutes } from '../http/control-route.js'
import { journalRoutes, unauthenticatedRequestRoutes } from '../journal/routes.js'
import { OPERATIONS } from '../operations.js'
import { replayRoutes } from '../replay/routes.js'
import { SeedError } from '../seeds/errors.js'
import { stubRoutes } from '../stubs/routes.js'
import { serverAccess } from './access.js'
import { environmentRoutes } from './environments/routes.js'
import { recordRoutes } from './records/routes.js'
import { coverageRoutes, reportRoutes, serverCoverageRoutes, testRoutes } from './report/routes.js'
import type { TestService } from './report/service.js'
import { serverRoutes } from './server/routes.js'
import type { ControlServices } from './services.js'
import { clockRoutes, stateRoutes } from './state/routes.js'

type Access = 'open' | 'server' | 'environment'
type RouteGroup<Allowed extends Access> = (route: AddRoute<Allowed>, options: Options) => void

interface Options extends ControlServices {
  tests: TestService
  /** The assumptions for environments that don't set their own. */
  assumptions: Assumptions
  /** Returns the OpenAPI document of the control routes. */
  document: () => Promise<object>
}

/**
 * Registers the control routes under `/_mock`. Throws if a route wasn't added with `controlRoutes`,
 * because the OpenAPI document would lack it.
 */
export function registerControl(app: FastifyInstance, options: Options): void {
  app.setErrorHandler(rejectBadSeed)
  app.addHook('onRoute', ({ method, url, config }) => {
    if (!config?.control)
      throw new Error(`the route ${method} ${url} must be added with controlRoutes`)
  })
  register('open', [], { Server: serverRoutes })
  register('server', [serverAccess], {
    Environments: environmentRoutes,
    Requests: unauthenticatedRequestRoutes,
    Coverage: serverCoverageRoutes,
    Report: reportRoutes
  })
  register('environment', [authentication], {
    State: stateRoutes,
    Records: recordRoutes,
    Requests: journalRoutes,
    Faults: faultRoutes,
    Stubs: (route, { stubs }) => stubRoutes(route, { stubs, operations: OPERATIONS }),
    Clock: clockRoutes,
    Coverage: coverageRoutes,
    Report: testRoutes,
    Replay: replayRoutes
  })

  /**
   * Registers groups of routes, and the hooks that run before their handlers. The key of each group
   * is its tag in the OpenAPI document.
   */
  function register<Allowed extends Access>(
    access: Allowed,
    hooks: FastifyPluginCallback<Options>[],
    groups: Record<string, RouteGroup<Allowed>>
  ): void {
    const registerAll = async (scope: FastifyInstance) => {
      for (const hook of [...hooks, controlRequests]) await scope.register(hook, options)
      for (const [tag, addRoutes] of Object.entries(groups))
        addRoutes(controlRoutes(scope, { tag, access }), options)
    }
    app.register(registerAll, { prefix: '/_mock' })
  }
}

/**
 * Rethrows a `SeedError` as the error `invalid`, which lists each issue under its path in the
 * request's body. Rethrows other errors unchanged.
 */
function rejectBadSeed(error: unknown): never {
  if (!(error instanceof SeedError)) throw error
  const errors = createFieldErrors()
  for (const { location, file, line, path, message } of error.issues) {
    // An issue without a path concerns the whole record or seed. List it under `body`, or under
    // `seed` if the seed is a field of the body.
    const field = path || (file === 'seed' ? file : 'body')
    errors[field] ??= { messages: [] }
    errors[field].messages.push(`${line === undefined ? field : location} ${message}`)
  }
  throw new DomainError('invalid', 'Validation Error', {
    reason: error.message.replaceAll('\n', '; '),
    errors
  })
}
