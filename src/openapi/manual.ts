import { existsSync, readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { FastifyPluginAsync } from 'fastify'
import { packageRoot } from '../core/package.js'

/** Serves the manual that comes with the package: a summary for agents at `/llms.txt`, and the pages that it links to. */
export const manual: FastifyPluginAsync = async (app) => {
  const folder = join(packageRoot(), 'docs')
  // A container may hold no more of the package than it takes to run.
  const pages = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.md')) : []
  const files = {
    'llms.txt': 'text/plain',
    ...Object.fromEntries(pages.map((name) => [`docs/${name}`, 'text/markdown']))
  }
  for (const [name, type] of Object.entries(files)) {
    app.get(`/${name}`, async (_request, reply) =>
      reply.type(`${type}; charset=utf-8`).send(await readFile(join(packageRoot(), name)))
    )
  }
}
