import type { Socket } from 'node:net'
import { clearInterval, clearTimeout, setInterval, setTimeout } from 'node:timers'
import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'

/** Milliseconds between two checks of the connections while closing. */
const POLL_INTERVAL = 100

/** Default grace in milliseconds: longer than any response takes, shorter than supervisors wait. */
const DEFAULT_GRACE = 5000

/**
 * Returns a function that closes the app. It lets requests in progress finish, closes idle
 * connections, and after `grace` milliseconds closes connections that are still busy.
 *
 * Create it before the app is ready, because it adds hooks.
 */
export function createGracefulClose(app: FastifyInstance): (grace?: number) => Promise<void> {
  const sockets = trackSockets(app)
  announceClose(app)
  app.addHook('preClose', () => closeIdleSockets(app, sockets))
  return async (grace = DEFAULT_GRACE) => {
    const timer = setTimeout(() => destroyBusySockets(app, sockets), grace)
    try {
      await app.close()
    } finally {
      clearTimeout(timer)
    }
  }
}

function trackSockets(app: FastifyInstance): ReadonlySet<Socket> {
  const sockets = new Set<Socket>()
  app.server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  return sockets
}

/** Adds `connection: close` to every response that starts while the app closes. */
function announceClose(app: FastifyInstance): void {
  let isClosing = false
  app.addHook('preClose', async () => {
    isClosing = true
  })
  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (isClosing) reply.header('connection', 'close')
    done()
  })
}

async function closeIdleSockets(app: FastifyInstance, sockets: ReadonlySet<Socket>): Promise<void> {
  // Connections whose last response promised keep-alive would otherwise stay open.
  app.server.keepAliveTimeout = 1
  while (!isAllWritten(sockets)) await delay(POLL_INTERVAL)
  const polling = setInterval(() => {
    // Node checks for idle connections once, but a connection can become idle later: when the
    // server responds before it has read the whole request.
    if (isAllWritten(sockets)) app.server.closeIdleConnections()
    // Browsers open connections in advance. Node counts a connection without a request as busy.
    for (const socket of sockets) {
      if (socket.bytesRead === 0) socket.destroy()
    }
  }, POLL_INTERVAL)
  app.server.once('close', () => clearInterval(polling))
}

/**
 * Returns whether the kernel has taken all data. Node considers a response finished earlier, and
 * would cut off the rest for a slow client.
 */
const isAllWritten = (sockets: ReadonlySet<Socket>) =>
  [...sockets].every(({ writableLength }) => writableLength === 0)

/** Doesn't use `closeAllConnections()`, which misses connections that requested a tunnel. */
function destroyBusySockets(app: FastifyInstance, sockets: ReadonlySet<Socket>): void {
  if (sockets.size > 0) {
    app.log.warn({ connections: sockets.size }, 'closing connections that are still busy')
  }
  for (const socket of sockets) socket.destroy()
}
