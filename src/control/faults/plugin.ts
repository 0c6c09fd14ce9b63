import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { DomainError } from '../../core/errors.js'
import { findIssues, pathText } from '../../core/validation.js'
import { InjectedFault, JSON_TYPE } from '../../http/errors.js'
import { bodyOf } from '../../idempotency/plugin.js'
import { endEntry, NO_ANSWER } from '../requests/plugin.js'
import { FaultEffect } from './schemas.js'
import { effectComplaints, type FaultService, type Hit } from './service.js'

declare module 'fastify' {
  interface FastifyRequest {
    /** What goes wrong with the request, on purpose. */
    hit: Hit | undefined
  }
}

interface Options {
  faults: FaultService
  /** Whether a request can ask for a fault by its header `x-mock-fault`. */
  faultHeader: boolean
}

/**
 * Lets requests go wrong as the environment's rules say, or the request itself: before the operation a delay, a refusal
 * or a dead connection; after it an answer that is cut off or lost, with the work done and stored.
 */
export const faultInjection = fp<Options>(
  async (app, { faults, faultHeader }) => {
    const delayed = new Set<() => void>()
    app.decorateRequest('hit', undefined)

    app.addHook('preHandler', (request, reply, done) => {
      const hit = hitOf(request)
      if (!hit) return done()
      // For whoever looks while it waits.
      request.journalEntry?.setBody(bodyOf(request))
      request.hit = hit
      request.journalEntry?.mark({ faulted: hit.id })
      const { delay, abort, status } = hit.effect
      const proceed = () => {
        if (abort === 'reset') loseConnection(request, reply)
        else done(status === undefined ? undefined : new InjectedFault(hit.id, status, hit.effect))
      }
      if (delay === undefined) return proceed()
      // What waits still runs when its client has gone away: until then its key is in use.
      const letGo = request.idempotencyKey?.hold()
      wait(delay, () => {
        letGo?.()
        proceed()
      })
    })

    app.addHook('onSend', (request, reply, payload, done) => {
      const effect = request.hit?.effect
      if (effect?.lostAnswer) loseConnection(request, reply)
      else if (effect?.abort === 'truncate') cutOff(request, reply, payload)
      else done(null, payload)
    })

    // A server that closes answers what has come in, and would wait as long as the longest delay.
    app.addHook('preClose', (done) => {
      for (const proceed of delayed) proceed()
      done()
    })

    function wait(milliseconds: number, then: () => void): void {
      const timer = setTimeout(proceed, milliseconds)
      delayed.add(proceed)

      function proceed(): void {
        clearTimeout(timer)
        delayed.delete(proceed)
        then()
      }
    }

    function hitOf(request: FastifyRequest): Hit | undefined {
      const { environment, journalEntry, headers } = request
      const asked = headers['x-mock-fault']
      if (faultHeader && asked !== undefined) return { id: 'header', effect: effectAsked(String(asked)) }
      if (!journalEntry || !faults.any(environment)) return undefined
      journalEntry.setBody(bodyOf(request))
      return faults.take(environment, journalEntry.shown())
    }
  },
  { name: 'fault-injection', dependencies: ['authentication', 'journalling'] }
)

/** The connection dies without a byte of an answer. */
function loseConnection(request: FastifyRequest, reply: FastifyReply): void {
  reply.hijack()
  endEntry(request, reply, NO_ANSWER)
  request.raw.socket.resetAndDestroy()
}

/** Half of the body comes, of a length that promises the whole. */
function cutOff(request: FastifyRequest, reply: FastifyReply, payload: unknown): void {
  const whole = Buffer.from((payload as Buffer | string | null) ?? '')
  const half = whole.subarray(0, Math.floor(whole.length / 2))
  reply.hijack()
  endEntry(request, reply, { size: half.length })
  reply.raw.writeHead(reply.statusCode, {
    ...(reply.getHeaders() as Record<string, string>),
    'content-type': JSON_TYPE,
    'content-length': whole.length
  })
  reply.raw.write(half, () => request.raw.socket.destroy())
}

/** `status=503`, `delay=250`, `abort=reset`, `lostAnswer`; several are separated by commas. */
function effectAsked(text: string): FaultEffect {
  const asked = new Map<string, unknown>()
  for (const part of text.split(',').map((each) => each.trim())) {
    const [, name = '', value = 'true'] = /^(status|delay|abort|lostAnswer)(?:=([a-z]+|\d{1,6}))?$/.exec(part) ?? []
    if (name === '' || asked.has(name)) throw notUnderstood(`at "${part}"`)
    asked.set(name, value === 'true' || (/^\d/.test(value) ? Number(value) : value))
  }
  const effect = Object.fromEntries(asked) as FaultEffect
  const [mistake] = findIssues(FaultEffect, effect).map(
    ({ path, message, hint }) => `${pathText(path)} ${message}${hint}`
  )
  const complaint = mistake ?? effectComplaints(effect)[0]
  if (complaint) throw notUnderstood(`as ${complaint}`)
  return effect
}

function notUnderstood(where: string): DomainError {
  return new DomainError('bad-request', `x-mock-fault can not be understood ${where}`, {
    reason: 'it takes status=400 to 599, delay=<milliseconds>, abort=reset or truncate, and lostAnswer, with commas'
  })
}
