import type { Socket } from 'node:net'
import { clearInterval, clearTimeout, setInterval, setTimeout } from 'node:timers'
import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'

/** Milliseconds between two checks of the open connections while the app closes. */
const POLL_INTERVAL = 100

/**
 * The default of `grace`. It is longer than a normal response takes, and shorter than the time that
 * process managers wait before they kill a process.
 */
const DEFAULT_GRACE = 5000

/**
 * Returns a function that closes the app. It closes idle connections and lets requests in progress
 * finish. After `grace` milliseconds, the function closes the connections that are still busy.
 *
 * Call `createGracefulClose` before the app is ready, because it adds hooks.
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

/** Adds `connection: close` to every response that is sent while the app closes. */
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
  // Let keep-alive connections end soon. They would otherwise stay open until the server's usual
  // keep-alive timeout.
  app.server.keepAliveTimeout = 1
  while (!isAllWritten(sockets)) await delay(POLL_INTERVAL)
  const polling = setInterval(() => {
    // Node itself closes idle connections only once, so repeat it here. A connection can become
    // idle later, if the server responds before it has read the whole request.
    if (isAllWritten(sockets)) app.server.closeIdleConnections()
    // Browsers open connections in advance. Node treats a connection without a request as busy, so
    // close it here.
    for (const socket of sockets) {
      if (socket.bytesRead === 0) socket.destroy()
    }
  }, POLL_INTERVAL)
  app.server.once('close', () => clearInterval(polling))
}

/**
 * Returns whether all data has been passed to the operating system. Node considers a response
 * finished before that. If the connection were closed then, a slow client wouldn't receive the rest
 * of the response.
 */
const isAllWritten = (sockets: ReadonlySet<Socket>) =>
  [...sockets].every(({ writableLength }) => writableLength === 0)

/**
 * Destroys each socket. Node's `closeAllConnections()` would miss the connections of CONNECT
 * requests.
 */
function destroyBusySockets(app: FastifyInstance, sockets: ReadonlySet<Socket>): void {
  if (sockets.size > 0) {
    app.log.warn({ connections: sockets.size }, 'closing connections that are still busy')
  }
  for (const socket of sockets) socket.destroy()
}
