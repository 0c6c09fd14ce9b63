/** A bare Fastify server that returns saved responses: `node fastify.mjs <port> <folder>`. */
import { fastify } from 'fastify'
import { JSON_TYPE, readResponses } from './responses.mjs'

const [port, folder] = process.argv.slice(2)
const { list, step, primary } = readResponses(folder)

const app = fastify()
app.get('/', (_request, reply) => reply.send('ready'))
app.get('/v1/messages', (_request, reply) => reply.type(JSON_TYPE).send(list))
app.get('/v2/workflows/:workflowId/steps/:stepId', (_request, reply) =>
  reply.type(JSON_TYPE).send(step)
)
app.post('/v1/integrations/:integrationId/set-primary', (_request, reply) =>
  reply.type(JSON_TYPE).send(primary)
)
await app.listen({ port: Number(port), host: '127.0.0.1' })
