import { Type } from '@sinclair/typebox'
import type { FastifyPluginAsync } from 'fastify'
import { ASSUMPTION_IDS, type Assumptions, REGISTER } from '../core/assumptions.js'
import { freeObject, strictObject, stringEnum } from '../core/typebox.js'
import { controlSchema } from '../http/control-operation.js'
import { JSON_TYPE } from '../http/errors.js'

/** What still has to happen before the server can be used; empty once it can. */
export interface Readiness {
  missing: readonly string[]
}

interface Options {
  assumptions: Assumptions
  /** Makes the document of the control routes. */
  document: () => Promise<object>
}

const Health = strictObject({ status: stringEnum(['ok']) })
const NotReady = strictObject({ status: stringEnum(['starting']), missing: Type.Array(Type.String()) })

const Register = strictObject({
  assumptions: Type.Array(
    Type.Object(
      { id: Type.String(), value: Type.String({ description: 'For environments that do not say otherwise' }) },
      { description: 'A row: what it settles, its positions, and where it stands' }
    )
  )
})

/** Whether the server can be used. Asked by machines, which may add to the query what they like. */
export const healthRoute: FastifyPluginAsync<{ readiness: Readiness }> = async (app, { readiness }) => {
  const schema = controlSchema({
    operationId: 'health',
    summary: 'Whether the server can be used',
    tag: 'Server',
    access: 'open',
    answer: Health
  })
  const notReady = { description: 'Not yet', content: { 'application/json': { schema: NotReady } } }
  app.get(
    '/health',
    { schema: { ...schema, response: { ...schema.response, 503: notReady } } },
    async (_request, reply) => {
      const { missing } = readiness
      if (missing.length === 0) return reply.type(JSON_TYPE).send({ status: 'ok' })
      return reply.code(503).header('Retry-After', '1').type(JSON_TYPE).send({ status: 'starting', missing })
    }
  )
}

/** Routes about the server itself, open to all: they tell nothing of any environment. */
export const controlRoutes: FastifyPluginAsync<Options> = async (app, { assumptions, document }) => {
  app.get(
    '/_mock/assumptions',
    {
      schema: controlSchema({
        operationId: 'listAssumptions',
        summary: 'What is settled where the contract is silent',
        tag: 'Server',
        access: 'open',
        answer: Register
      })
    },
    async (_request, reply) =>
      reply.type(JSON_TYPE).send({
        assumptions: ASSUMPTION_IDS.map((id) => ({ id, ...REGISTER[id], value: assumptions[id] }))
      })
  )

  let made: Promise<string> | undefined
  app.get(
    '/_mock/openapi.json',
    {
      schema: controlSchema({
        operationId: 'readControlDocument',
        summary: 'This document',
        tag: 'Server',
        access: 'open',
        answer: freeObject('An OpenAPI document')
      })
    },
    async (_request, reply) => {
      made ??= document().then((each) => JSON.stringify(each))
      return reply.type(JSON_TYPE).send(await made)
    }
  )
}
