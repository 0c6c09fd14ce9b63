import { STATUS_CODES } from 'node:http'
import { Type } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { DomainError } from '../../core/errors.js'
import { findIssues, pathText } from '../../core/validation.js'
import { type ErrorResponse, JSON_TYPE, SERVER_ERROR, sendErrorResponse } from '../../http/errors.js'
import { logFault } from '../../http/log.js'
import type { LatencyService } from '../latency/service.js'
import { endEntry } from '../requests/plugin.js'
import { FaultEffect } from './schemas.js'
import { type FaultService, findEffectErrors } from './service.js'

declare module 'fastify' {
  interface FastifyRequest {
    /** The effect to inject after the operation has run. */
    effect: FaultEffect | undefined
  }
}

type Fault = { id: string; effect: FaultEffect }

/**
 * Delays requests by the latency of their environment, and injects faults by its rules or the header `x-mock-fault`:
 * before the operation a delay, an error answer or a reset connection; after it, with its work done and stored, a
 * truncated or lost answer.
 */
export const faultInjection = fp<{ faults: FaultService; latency: LatencyService }>(
  async (app, { faults, latency }) => {
    app.decorateRequest('effect', undefined)

    // The body has been read, but the request is not validated yet: invalid requests can be hit too.
    app.addHook('preValidation', (request, reply, done) => {
      const fault = findFault(request)
      const delay = latency.draw(request) + (fault?.effect.delay ?? 0)
      if (fault) markFaulted(request, fault)
      if (delay > 0) proceedLater(delay, fault, request, reply, done)
      else proceed(fault, request, reply, done)
    })

    app.addHook('onSend', (request, reply, payload, done) => {
      const { effect } = request
      if (effect?.lostAnswer) resetConnection(request, reply)
      else if (effect?.abort === 'truncate') sendHalf(request, reply, payload)
      else done(null, payload)
    })

    // On its own, so that a request without a delay makes no closure.
    function proceedLater(delay: number, ...[fault, request, reply, done]: Parameters<typeof proceed>): void {
      // The journal shows it while the request is delayed.
      request.journalEntry?.setBody(request.body)
      // A delayed operation runs even if its client disconnects: until then its key stays in use.
      const release = request.idempotencyKey?.hold()
      latency
        .wait(delay)
        .finally(release)
        .then(() => proceed(fault, request, reply, done))
    }

    function findFault({ environment, journalEntry, headers }: FastifyRequest): Fault | undefined {
      const header = headers['x-mock-fault']
      if (faults.acceptsHeader && header !== undefined) return { id: 'header', effect: parseEffect(String(header)) }
      if (!journalEntry || !faults.hasRules(environment)) return undefined
      return faults.apply(environment, journalEntry)
    }
  },
  { name: 'fault-injection', dependencies: ['authentication'] }
)

function markFaulted(request: FastifyRequest, { id, effect }: Fault): void {
  request.effect = effect
  if (!request.journalEntry) return
  request.journalEntry.faulted = id
  request.journalEntry.injected = Boolean(effect.status || effect.abort || effect.lostAnswer)
}

/** Does what comes before the operation, and lets that run unless a fault is in place of it. */
function proceed(fault: Fault | undefined, request: FastifyRequest, reply: FastifyReply, done: () => void): void {
  if (!fault) {
    done()
    return
  }
  const { id, effect } = fault
  const { random, now } = request.environment
  if (effect.status === undefined) logFault(reply, nameOf(id), wordsOf(effect))
  if (effect.abort === 'reset') resetConnection(request, reply)
  else if (effect.status === undefined) done()
  else sendErrorResponse(reply, injectedError(fault, effect.status, random.uuid), now)
}

/** Closes the connection without sending any of the answer. */
function resetConnection(request: FastifyRequest, reply: FastifyReply): void {
  // Before the client can know, as it may send the request again at once.
  request.idempotencyKey?.release()
  reply.hijack()
  endEntry(request, reply, undefined)
  request.raw.socket.resetAndDestroy()
}

/** Sends half of the body with the content-length of the whole, then closes the connection. */
function sendHalf(request: FastifyRequest, reply: FastifyReply, payload: unknown): void {
  const whole = Buffer.from((payload as Buffer | string | null) ?? '')
  const half = whole.subarray(0, Math.floor(whole.length / 2))
  request.idempotencyKey?.release()
  reply.hijack()
  endEntry(request, reply, half.length)
  reply.raw.writeHead(reply.statusCode, {
    ...(reply.getHeaders() as Record<string, string>),
    'content-type': JSON_TYPE,
    'content-length': whole.length
  })
  reply.raw.write(half, () => request.raw.socket.destroy())
}

/** The fault as the log names it. */
const nameOf = (id: string) => (id === 'header' ? 'x-mock-fault' : id)

/** What a fault without a status does, for the log. */
function wordsOf({ abort, lostAnswer, delay }: FaultEffect): string {
  if (abort === 'reset') return 'connection reset'
  if (abort === 'truncate') return 'answer truncated'
  return lostAnswer ? 'answer lost' : `delayed by ${delay} ms`
}

const MESSAGES: Record<number, string> = { 429: 'API rate limit exceeded', 500: SERVER_ERROR }

/** What the deployed service sends with a 429, with figures of ours. */
const RATE_LIMITED = {
  'ratelimit-limit': '60',
  'ratelimit-remaining': '0',
  'ratelimit-reset': '1',
  'ratelimit-policy': '60;w=1;burst=66;comment="token bucket";category="global";cost="single";serviceLevel="free"'
}

/** Returns the error of a fault. Words and headers are those of the deployed service, where they are known. */
function injectedError({ id, effect }: Fault, status: number, uuid: () => string): ErrorResponse {
  const sent = Object.entries(effect.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value])
  return {
    status,
    fault: nameOf(id),
    message: MESSAGES[status] ?? STATUS_CODES[status] ?? 'Error',
    reason: `injected by ${id === 'header' ? 'the header x-mock-fault' : `${id}, see GET /_mock/faults`}`,
    headers: { ...(status === 429 && RATE_LIMITED), ...Object.fromEntries(sent) },
    ...(effect.body !== undefined && { body: effect.body }),
    ...(status === 422 && { errors: {} }),
    ...(status === 500 && { errorId: uuid() })
  }
}

const HeaderEffect = Type.Omit(FaultEffect, ['headers', 'body'])

/** Parses `status=503`, `delay=250`, `abort=reset` or `lostAnswer`; several are separated by commas. */
function parseEffect(text: string): FaultEffect {
  const fields = text.split(',').map((part): [string, unknown] => {
    const [, name = '', value = 'true'] = /^([^=]*)(?:=(.*))?$/.exec(part.trim()) ?? []
    return [name, value === 'true' || (/^\d+$/.test(value) ? Number(value) : value)]
  })
  const effect: FaultEffect = Object.fromEntries(fields)
  const errors = [
    ...(Object.keys(effect).length < fields.length ? ['each can be given only once'] : []),
    ...findIssues(HeaderEffect, effect).map(({ path, message, hint }) => `${pathText(path)} ${message}${hint}`),
    ...findEffectErrors(effect)
  ]
  if (errors.length === 0) return effect
  throw new DomainError('bad-request', `x-mock-fault can not be understood as ${errors[0]}`, {
    reason: 'it takes status=400 to 599, delay=<milliseconds>, abort=reset or truncate, and lostAnswer, with commas'
  })
}
