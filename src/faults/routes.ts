import { OutgoingMessage } from 'node:http'
import { Type } from '@sinclair/typebox'
import { attempt, createFieldErrors, DomainError, invalidFields } from '../domain/errors.js'
import { findLatencyProblem } from '../domain/latency.js'
import { type AddRoute, listOf } from '../http/control-route.js'
import { preparePatterns } from '../journal/verification.js'
import { ref, strictObject } from '../schema/typebox.js'
import { findIssues, formatPath, isSecretPath } from '../schema/validation.js'
import {
  FaultEffect,
  FaultRule,
  Latency,
  LatencySetting,
  MAX_RULES,
  NewFaultRule
} from './schemas.js'
import type { FaultService, LatencyService } from './service.js'

/** Lists, adds and removes the fault rules of an environment, and sets how much later its answers come. */
export function faultRoutes(
  route: AddRoute,
  { faults, latency }: { faults: FaultService; latency: LatencyService }
): void {
  route('GET', '/faults', 'listFaults', 'List fault rules with their counters', {
    response: listOf('faults', ref(FaultRule), 'In the order they were added'),
    handler: async ({ environment }) => ({ faults: faults.list(environment) })
  })

  route('POST', '/faults', 'addFault', 'Add a fault rule', {
    body: ref(NewFaultRule),
    response: ref(FaultRule),
    status: 201,
    handler: async ({ environment, body }) => {
      await checkRules([['', body]])
      const reason = `an environment has at most ${MAX_RULES} rules: remove some by DELETE /_mock/faults`
      if (faults.list(environment).length < MAX_RULES) return faults.add(environment, body)
      throw new DomainError('bad-request', `There are ${MAX_RULES} fault rules already`, { reason })
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
      'Of all requests with a key of the environment. A reset of the faults goes back to that of the start.',
    body: ref(LatencySetting),
    response: ref(Latency),
    handler: async ({ environment, body }) => {
      const issue = findLatencyProblem(body)
      if (issue) throw invalidFields({ preset: { messages: [issue] } })
      latency.set(environment, body)
      return latency.get(environment)
    }
  })
}

/**
 * Prepares rules to be added, each given with its path in the body. Rejects with `invalid` for effects that can not be
 * combined, headers that can not be sent and patterns that can not be matched.
 */
export async function checkRules(
  rules: readonly (readonly [path: string, NewFaultRule])[]
): Promise<void> {
  await preparePatterns(rules.map(([path, { match = {} }]) => [`${path}match.`, match]))
  const errors = createFieldErrors()
  for (const [path, { effect }] of rules) {
    const contradiction = findContradiction(effect)
    if (contradiction) errors[`${path}effect`] = { messages: [`${path}effect ${contradiction}`] }
    for (const [name, value] of Object.entries(effect.headers ?? {})) {
      const field = `${path}effect.headers.${name}`
      if (isSendable(name, value)) continue
      errors[field] = {
        messages: [`${field} can not be sent as a header`],
        ...(!isSecretPath([name]) && { value })
      }
    }
  }
  if (Object.keys(errors).length > 0) throw invalidFields(errors)
}

/**
 * Not those that frame the response, with another value of which the client would wait for ever or misread the next one,
 * and `__proto__`, as Fastify keeps headers in an object that has a prototype.
 */
const RESERVED =
  /^(connection|content-length|keep-alive|trailer|transfer-encoding|upgrade|__proto__)$/i

function isSendable(name: string, value: string): boolean {
  return (
    !RESERVED.test(name) &&
    attempt(() => new OutgoingMessage().setHeader(name, value)) !== undefined
  )
}

function findContradiction({
  status,
  headers,
  body,
  abort,
  lostResponse
}: FaultEffect): string | undefined {
  const outcomes = [status, abort, lostResponse].filter((outcome) => outcome !== undefined)
  if (outcomes.length > 1) return 'can have only one of status, abort, lostResponse'
  const needsStatus = headers !== undefined || body !== undefined
  return needsStatus && status === undefined
    ? 'must have status, as it has headers or body'
    : undefined
}

const HeaderEffect = Type.Omit(FaultEffect, ['headers', 'body'])

/** Parses an `x-mock-fault`: `status=503`, `delay=250`, `abort=reset` or `lostResponse`; several are separated by commas. */
export function parseEffect(text: string): FaultEffect {
  const fields = text.split(',').map((part): [string, unknown] => {
    const [name = '', value = 'true'] = part.trim().split(/=(.*)/)
    return [name, value === 'true' || (/^\d+$/.test(value) ? Number(value) : value)]
  })
  const effect: FaultEffect = Object.fromEntries(fields)
  const contradiction = findContradiction(effect)
  const [issue] = [
    ...(Object.keys(effect).length < fields.length ? ['each can be given only once'] : []),
    ...findIssues(HeaderEffect, effect).map(
      ({ path, message, hint }) => `${formatPath(path)} ${message}${hint}`
    ),
    ...(contradiction ? [`effect ${contradiction}`] : [])
  ]
  if (issue === undefined) return effect
  throw new DomainError('bad-request', `x-mock-fault can not be understood as ${issue}`, {
    reason:
      'it takes status=400 to 599, delay=<milliseconds>, abort=reset or truncate, and lostResponse, with commas'
  })
}
