import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { FastifyPluginAsync, FastifyReply } from 'fastify'
import { DomainError } from '../core/errors.js'
import { packageRoot } from '../core/package.js'

/** Serves the manual that comes with the package: a summary for agents at `/llms.txt`, and all that its pages link to. */
export const manual: FastifyPluginAsync = async (app) => {
  app.get('/llms.txt', (_request, reply) => send(reply, 'llms.txt', 'text/plain'))
  // One route, as each costs a start half a millisecond.
  app.get<{ Params: { page: string } }>('/docs/:page(^[a-z]+\\.(?:md|svg)$)', ({ params: { page } }, reply) =>
    send(reply, `docs/${page}`, page.endsWith('.svg') ? 'image/svg+xml' : 'text/markdown')
  )
  app.get('/seeds/schema.json', (_request, reply) => send(reply, 'seeds/schema.json', 'application/json'))
}

async function send(reply: FastifyReply, name: string, type: string): Promise<FastifyReply> {
  const text = await readFile(join(packageRoot(), name)).catch(() => {
    throw new DomainError('not-found', `Cannot GET /${name}`, { reason: '/llms.txt lists the pages of the manual' })
  })
  return reply.type(`${type}; charset=utf-8`).send(text)
}
