/** Sends our bytes from memory with nothing but Fastify: `node fastify.mjs <port> <folder of answers>`. */
import { fastify } from 'fastify'
import { answersIn, JSON_TYPE } from './answers.mjs'

const [port, folder] = process.argv.slice(2)
const { list, step, primary } = answersIn(folder)

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
