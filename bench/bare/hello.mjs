/** The smallest possible Fastify server: `node hello.mjs <port>`. */
import { fastify } from 'fastify'

const app = fastify()
app.get('/', () => ({ hello: 'world' }))
await app.listen({ port: Number(process.argv[2]), host: '127.0.0.1' })
