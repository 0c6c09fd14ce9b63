import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { clearInterval, clearTimeout, delay, setInterval, setTimeout } from '../platform/timers.js'

/** Milliseconds between two checks of the open connections while the app closes. */
const POLL_INTERVAL = 100

/**
 * The default `grace` in milliseconds. A normal response takes less time, and process managers wait
 * longer before they kill a process.
 */
const DEFAULT_GRACE = 5000

/**
 * How many milliseconds the server waits for clients to close their side of idle connections. A
 * client that watches its connections closes its side within one turn of its event loop. Other
 * clients don't notice the close until their next request, so waiting longer wouldn't help.
 */
const CLIENT_GRACE = 500

/** The open connections, each with its last request. */
type Sockets = ReadonlyMap<Socket, LastRequest | undefined>

interface LastRequest {
  request: IncomingMessage
  /** The number of bytes that the connection had received when the response ended. */
  bytesAtEnd?: number
}

/**
 * Returns a function that closes the app. It closes idle connections and lets requests in progress
 * finish. After `grace` milliseconds, the function closes the connections that are still busy.
 *
 * Call `createGracefulClose` before the app is ready, because it adds hooks.
 */
export function createGracefulClose(app: FastifyInstance): (grace?: number) => Promise<void> {
  const sockets = trackSockets(app)
  announceClose(app)
  app.addHook('preClose', async () => {
    await closeIdleSockets(app, sockets)
    await endIdleSockets(sockets)
  })
  return async (grace = DEFAULT_GRACE) => {
    const timer = setTimeout(() => destroyBusySockets(app, sockets), grace)
    try {
      await app.close()
    } finally {
      clearTimeout(timer)
    }
  }
}

function trackSockets(app: FastifyInstance): Sockets {
  const sockets = new Map<Socket, LastRequest | undefined>()
  app.server.on('connection', (socket: Socket) => {
    sockets.set(socket, undefined)
    socket.once('close', () => sockets.delete(socket))
  })
  app.server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request
    const lastRequest: LastRequest = { request }
    sockets.set(socket, lastRequest)
    response.once('close', () => {
      lastRequest.bytesAtEnd = socket.bytesRead
    })
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

async function closeIdleSockets(app: FastifyInstance, sockets: Sockets): Promise<void> {
  // Let keep-alive connections end soon. They would otherwise stay open until the server's usual
  // keep-alive timeout.
  app.server.keepAliveTimeout = 1
  while (!isAllWritten(sockets)) await delay(POLL_INTERVAL)
  const polling = setInterval(() => {
    // Node closes idle connections only once, when the server starts to close. Close them
    // repeatedly, because a connection becomes idle later if its request ends after the response.
    if (isAllWritten(sockets)) app.server.closeIdleConnections()
    // Browsers open connections in advance. Node treats a connection without a request as busy, so
    // close it here.
    for (const socket of sockets.keys()) {
      if (socket.bytesRead === 0) socket.destroy()
    }
  }, POLL_INTERVAL)
  app.server.once('close', () => clearInterval(polling))
}

/**
 * Ends the idle connections and waits until the clients have closed them too. Otherwise, a client
 * could reuse one of these connections for a request to the next server on this port, and the
 * request would fail.
 */
async function endIdleSockets(sockets: Sockets): Promise<void> {
  const endedSockets: Socket[] = []
  for (const [socket, lastRequest] of sockets) {
    if (isIdle(socket, lastRequest)) endedSockets.push(socket.end())
  }
  // Count turns of the event loop instead of reading a clock. A client in this process needs a turn
  // to close its end, and a single slow turn could use up all of `CLIENT_GRACE`.
  for (let turn = 0; turn < CLIENT_GRACE; turn += 1) {
    if (endedSockets.every(({ destroyed }) => destroyed)) return
    await delay(1)
  }
}

/** Returns whether the last request got its response and no further data has arrived. */
function isIdle(socket: Socket, lastRequest: LastRequest | undefined): boolean {
  return lastRequest?.request.complete === true && lastRequest.bytesAtEnd === socket.bytesRead
}

/**
 * Returns whether all data has been passed to the operating system. Node reports a response as
 * finished before that, but closing the connection then would cut off the response for a slow
 * client.
 */
const isAllWritten = (sockets: Sockets) =>
  [...sockets.keys()].every(({ writableLength }) => writableLength === 0)

/**
 * Destroys each socket. Node's `closeAllConnections()` would miss the connections of CONNECT
 * requests.
 */
function destroyBusySockets(app: FastifyInstance, sockets: Sockets): void {
  if (sockets.size > 0) {
    app.log.warn({ connections: sockets.size }, 'closing connections that are still busy')
  }
  for (const socket of sockets.keys()) socket.destroy()
}
