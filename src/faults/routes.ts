import { DomainError, invalidFields } from '../domain/errors.js'
import { findLatencyProblem } from '../domain/latency.js'
import { type AddRoute, listOf } from '../http/control-route.js'
import { ref, strictObject } from '../schema/typebox.js'
import type { LatencyService } from './latency.js'
import { checkRules } from './rule-checks.js'
import { FaultRule, Latency, LatencySetting, MAX_RULES, NewFaultRule } from './schemas.js'
import type { FaultService } from './service.js'

const REMOVE_SOME = 'remove some with DELETE /_mock/faults/{id}'
const TOO_MANY_RULES = `an environment can have at most ${MAX_RULES} rules; ${REMOVE_SOME}`

/** Adds the routes for the fault rules and the latency of an environment. */
export function faultRoutes(
  route: AddRoute,
  { faults, latency }: { faults: FaultService; latency: LatencyService }
): void {
  route('GET', '/faults', 'listFaults', 'List fault rules with their counters', {
    response: listOf('faults', ref(FaultRule), 'The fault rules, oldest first'),
    handler: async ({ environment }) => ({ faults: faults.list(environment) })
  })

  route('POST', '/faults', 'addFault', 'Add a fault rule', {
    body: ref(NewFaultRule),
    response: ref(FaultRule),
    status: 201,
    handler: async ({ environment, body }) => {
      await checkRules([['', body]])
      if (faults.list(environment).length < MAX_RULES) return faults.add(environment, body)
      const message = `There are ${MAX_RULES} fault rules already`
      throw new DomainError('bad-request', message, { reason: TOO_MANY_RULES })
    }
  })

  route('DELETE', '/faults', 'clearFaults', 'Remove all fault rules', {
    handler: async ({ environment }) => faults.reset(environment)
  })

  route('DELETE', '/faults/:id', 'removeFault', 'Remove a fault rule', {
    params: strictObject({ id: FaultRule.properties.id }),
    handler: async ({ environment, params }) => faults.remove(environment, params.id)
  })

  route('GET', '/latency', 'getLatency', 'Get the latency', {
    response: ref(Latency),
    handler: async ({ environment }) => latency.get(environment)
  })

  route('PUT', '/latency', 'setLatency', 'Set the latency', {
    description:
      "Applies to all requests with one of the environment's API keys. Resetting the faults " +
      'restores the initial latency.',
    body: ref(LatencySetting),
    response: ref(Latency),
    handler: async ({ environment, body }) => {
      const problem = findLatencyProblem(body)
      if (problem) throw invalidFields({ preset: { messages: [problem] } })
      latency.set(environment, body)
      return latency.get(environment)
    }
  })
}
