import createRouter from 'find-my-way'
import { DomainError } from '../domain/errors.js'
import { mergeStubs, requestsOf, type Stub } from '../domain/stub.js'
import type { Environment, EnvironmentService } from '../environments/service.js'
import { StubFunctions } from './functions.js'
import type { AddedStub, NewStub } from './schemas.js'

type Router = createRouter.Instance<createRouter.HTTPVersion.V1>

/** The stub that matches a request, and the decoded parameters of the request's path. */
export interface StubMatch {
  stub: Stub
  params: Record<string, string>
}

/** Manages stubs. They are settings of the environment, so forks and snapshots copy them. */
export class StubService {
  readonly functions = new StubFunctions()
  readonly #environments: EnvironmentService
  /**
   * Caches the routers: for each value of the assumption `path-form`, one router per list of stubs.
   * Changing the stubs creates a new list, so a cached router is never outdated.
   */
  readonly #routers = {
    strict: new WeakMap<readonly Stub[], Router>(),
    lenient: new WeakMap<readonly Stub[], Router>()
  }

  constructor({ environments }: { environments: EnvironmentService }) {
    this.#environments = environments
  }

  list(environment: Environment): readonly Stub[] {
    return environment.stubs
  }

  /**
   * Adds a stub. Call this only if `findStubProblems` finds no problem in it. If the environment
   * has a stub with the same method and path, the new stub replaces it and takes over its id.
   * Throws `bad-request` if the environment would exceed the maximum number or total size of stubs.
   */
  add(environment: Environment, newStub: NewStub): AddedStub {
    const stubs = mergeStubs(environment.stubs, [newStub])
    const stub = stubs.find((candidate) => requestsOf(candidate) === requestsOf(newStub)) as Stub
    const replaced = stubs.length === environment.stubs.length
    this.#environments.changeSettings(environment, { stubs })
    return { ...stub, ...(replaced && { replaced }) }
  }

  /** Throws `not-found` if the environment doesn't have the stub. */
  remove(environment: Environment, id: string): void {
    const stubs = environment.stubs.filter((stub) => stub.id !== id)
    if (stubs.length === environment.stubs.length) {
      const reason = `this environment has no stub ${id}: GET /_mock/stubs lists its stubs`
      throw new DomainError('not-found', `Stub with id ${id} not found`, { reason })
    }
    this.#environments.changeSettings(environment, { stubs })
  }

  clear(environment: Environment): void {
    this.#environments.changeSettings(environment, { stubs: [] })
  }

  /**
   * Returns the stub that matches a request, with the decoded parameters. Returns undefined if no
   * stub matches. A stub with a literal path takes precedence over a stub whose path has
   * parameters.
   */
  find(environment: Environment, method: string, path: string): StubMatch | undefined {
    if (environment.stubs.length === 0) return undefined
    const router = this.#routerOf(environment)
    const match = router.find(method === 'HEAD' ? 'GET' : (method as 'GET'), path)
    if (!match) return undefined
    const params = match.params as Record<string, string>
    // A parameter of a stub's path doesn't match an empty segment.
    return Object.values(params).includes('') ? undefined : { stub: match.store, params }
  }

  #routerOf({ stubs, assumptions }: Environment): Router {
    const form = assumptions['path-form']
    const routers = this.#routers[form]
    const existing = routers.get(stubs)
    if (existing) return existing
    const router = createRouter({ maxParamLength: 256 * 1024, ...ROUTER_OPTIONS[form] })
    for (const stub of stubs) router.on(stub.method, toRoutePattern(stub.path), () => {}, stub)
    routers.set(stubs, router)
    return router
  }
}

const ROUTER_OPTIONS = {
  strict: {},
  lenient: { ignoreTrailingSlash: true, caseSensitive: false }
}

/** Returns the path in the syntax of find-my-way, where a colon starts a parameter. */
const toRoutePattern = (path: string): string =>
  path.replaceAll(':', '::').replaceAll(/\{(\w+)\}/g, ':$1')
