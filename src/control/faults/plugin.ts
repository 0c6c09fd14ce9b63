import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { DomainError } from '../../core/errors.js'
import { findIssues, pathText } from '../../core/validation.js'
import { JSON_TYPE } from '../../http/errors.js'
import { bodyOf } from '../../idempotency/plugin.js'
import { endEntry } from '../requests/plugin.js'
import { injectedError } from './injected-error.js'
import { FaultEffect } from './schemas.js'
import { type FaultService, findEffectErrors, type InjectedEffect } from './service.js'

declare module 'fastify' {
  interface FastifyRequest {
    /** The effect to inject after the operation has run. */
    effect: FaultEffect | undefined
  }
}

interface Options {
  faults: FaultService
  /** Whether a request can ask for a fault by its header `x-mock-fault`. */
  faultHeader: boolean
}

/**
 * Injects faults by the environment's rules or the header `x-mock-fault`: before the operation a delay, an error answer
 * or a reset connection; after it, with its work done and stored, a truncated or lost answer.
 */
export const faultInjection = fp<Options>(
  async (app, { faults, faultHeader }) => {
    const delayed = new Set<() => void>()
    app.decorateRequest('effect', undefined)

    // The body has been read, but the request is not validated yet: invalid requests can be hit too.
    app.addHook('preValidation', (request, reply, done) => {
      const fault = findFault(request)
      if (!fault) return done()
      const { id, effect } = fault
      const { uuid } = request.environment.random
      request.effect = effect
      // The journal shows both while the request is delayed.
      request.journalEntry?.setBody(bodyOf(request))
      request.journalEntry?.addFlags({ faulted: id })
      const proceed = () => {
        if (effect.abort === 'reset') resetConnection(request, reply)
        else done(effect.status === undefined ? undefined : injectedError(fault, effect.status, uuid))
      }
      if (effect.delay === undefined) return proceed()
      // A delayed operation runs even if its client disconnects: until then its key stays in use.
      const release = request.idempotencyKey?.hold()
      wait(effect.delay, () => {
        release?.()
        proceed()
      })
    })

    app.addHook('onSend', (request, reply, payload, done) => {
      const { effect } = request
      if (effect?.lostAnswer) resetConnection(request, reply)
      else if (effect?.abort === 'truncate') sendHalf(request, reply, payload)
      else done(null, payload)
    })

    // A server that closes waits for its requests, so delays must not hold them up.
    app.addHook('preClose', (done) => {
      for (const proceed of delayed) proceed()
      done()
    })

    function wait(milliseconds: number, callback: () => void): void {
      const timer = setTimeout(proceed, milliseconds)
      delayed.add(proceed)

      function proceed(): void {
        clearTimeout(timer)
        delayed.delete(proceed)
        callback()
      }
    }

    function findFault(request: FastifyRequest): InjectedEffect | undefined {
      const { environment, journalEntry, headers } = request
      const header = headers['x-mock-fault']
      if (faultHeader && header !== undefined) return { id: 'header', effect: parseEffect(String(header)) }
      if (!journalEntry || !faults.hasRules(environment.key)) return undefined
      journalEntry.setBody(bodyOf(request))
      return faults.apply(environment, journalEntry.toRecordedRequest())
    }
  },
  { name: 'fault-injection', dependencies: ['authentication'] }
)

/** Closes the connection without sending any of the answer. */
function resetConnection(request: FastifyRequest, reply: FastifyReply): void {
  reply.hijack()
  endEntry(request, reply, undefined)
  request.raw.socket.resetAndDestroy()
}

/** Sends half of the body with the content-length of the whole, then closes the connection. */
function sendHalf(request: FastifyRequest, reply: FastifyReply, payload: unknown): void {
  const whole = Buffer.from((payload as Buffer | string | null) ?? '')
  const half = whole.subarray(0, Math.floor(whole.length / 2))
  reply.hijack()
  endEntry(request, reply, half.length)
  reply.raw.writeHead(reply.statusCode, {
    ...(reply.getHeaders() as Record<string, string>),
    'content-type': JSON_TYPE,
    'content-length': whole.length
  })
  reply.raw.write(half, () => request.raw.socket.destroy())
}

/** Parses `status=503`, `delay=250`, `abort=reset` or `lostAnswer`; several are separated by commas. */
function parseEffect(text: string): FaultEffect {
  const values = new Map<string, unknown>()
  for (const part of text.split(',').map((each) => each.trim())) {
    const [, name = '', value = 'true'] = /^(status|delay|abort|lostAnswer)(?:=([a-z]+|\d{1,6}))?$/.exec(part) ?? []
    if (name === '' || values.has(name)) throw badFaultHeader(`at "${part}"`)
    values.set(name, value === 'true' || (/^\d/.test(value) ? Number(value) : value))
  }
  const effect = Object.fromEntries(values) as FaultEffect
  const issues = findIssues(FaultEffect, effect).map(({ path, message, hint }) => `${pathText(path)} ${message}${hint}`)
  const [error] = [...issues, ...findEffectErrors(effect)]
  if (error) throw badFaultHeader(`as ${error}`)
  return effect
}

function badFaultHeader(where: string): DomainError {
  return new DomainError('bad-request', `x-mock-fault can not be understood ${where}`, {
    reason: 'it takes status=400 to 599, delay=<milliseconds>, abort=reset or truncate, and lostAnswer, with commas'
  })
}
