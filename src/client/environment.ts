import { type Clock, clockOf, type RandomValues, randomOf } from './clock.js'
import { type Connection, path } from './connection.js'
import type { Coverage, CreatedEnvironment } from './control-api.js'
import { MockError } from './errors.js'
import { type Faults, faultsOf } from './faults.js'
import { type LatencyMethods, latencyMethodsOf } from './latency.js'
import { type Integrations, integrationsOf, type Messages, messagesOf, type Workflows, workflowsOf } from './records.js'
import { type Requests, requestsOf } from './requests.js'
import { type StateMethods, stateOf } from './state.js'

/** An environment that the holder of its key uses. */
export interface AttachedEnvironment extends StateMethods {
  /** The base url for the client under test, without a slash at the end. */
  url: string
  apiKey: string
  /** The headers that a request to the environment needs. */
  headers: { authorization: string }
  requests: Requests
  faults: Faults
  latency: LatencyMethods
  clock: Clock
  random: RandomValues
  messages: Messages
  integrations: Integrations
  workflows: Workflows
  /** Returns how much of the contract the requests to the environment have met. */
  coverage(): Promise<Coverage>
  /** Counts again from nothing. */
  clearCoverage(): Promise<void>
}

/** An environment of its own, isolated from all others. */
export interface Environment extends AttachedEnvironment, Omit<CreatedEnvironment, 'environmentId'> {
  id: string
  /** Removes the environment with all its data. */
  remove(): Promise<void>
  /** Removes the environment, unless the test or its ttl has done so. */
  [Symbol.asyncDispose](): Promise<void>
}

export function attachedEnvironment(server: Connection, apiKey: string): AttachedEnvironment {
  const authorization = `ApiKey ${apiKey}`
  const connection = server.as(authorization)
  return {
    url: server.url,
    apiKey,
    headers: { authorization },
    requests: requestsOf(connection),
    faults: faultsOf(connection),
    latency: latencyMethodsOf(connection),
    clock: clockOf(connection),
    random: randomOf(connection),
    messages: messagesOf(connection),
    integrations: integrationsOf(connection),
    workflows: workflowsOf(connection),
    coverage: () => connection.json('GET', '/_mock/coverage'),
    clearCoverage: () => connection.done('DELETE', '/_mock/coverage'),
    ...stateOf(connection)
  }
}

export function createdEnvironment(server: Connection, created: CreatedEnvironment): Environment {
  const { environmentId: id, ...identity } = created
  const remove = () => server.done('DELETE', path`/_mock/environments/${id}`)
  return {
    ...attachedEnvironment(server, created.apiKey),
    ...identity,
    id,
    remove,
    [asyncDispose]: () =>
      remove().catch((error) => {
        if (!isGone(error)) throw error
      })
  }
}

/** Whether an error says that the environment was removed before. */
function isGone(error: unknown): boolean {
  return error instanceof MockError && (error.status === 401 || error.status === 404)
}

/** Browsers that do not know `await using` have no such symbol. */
export const asyncDispose: typeof Symbol.asyncDispose = Symbol.asyncDispose ?? Symbol.for('Symbol.asyncDispose')
