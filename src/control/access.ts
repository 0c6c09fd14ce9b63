import { timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { DomainError } from '../domain/errors.js'
import { hashOfKey } from '../environments/api-keys.js'
import { isLoopback, untrustedOrigin } from '../http/loopback.js'

/**
 * Guards the routes that concern the whole server, such as the list of environments. A request from
 * this machine needs no token, except in three cases:
 *
 * - Its headers show that a page of another site sent it.
 * - Its `Host` header isn't `localhost` or a loopback address, as in a DNS rebinding attack.
 * - A proxy forwarded it for another machine.
 *
 * In these cases, a request needs the admin token, as does any request from another machine. If the
 * server has an admin token, a request with a wrong token is always rejected.
 */
export const serverAccess = fp<{ adminToken: string | undefined }>(
  async (app, { adminToken }) => {
    app.addHook('onRequest', (request, _reply, done) => {
      const token = /^Bearer\s+(\S+)$/i.exec(request.headers.authorization ?? '')?.[1]
      if (token === undefined || adminToken === undefined) {
        requireThisMachine(request)
      } else if (!timingSafeEqual(hashOfKey(token), hashOfKey(adminToken))) {
        throw forbidden('the admin token is wrong')
      }
      done()
    })
  },
  { name: 'server-access' }
)

/**
 * Throws `forbidden` if another machine or a page of another site sent the request, or if its
 * `Host` header isn't `localhost` or a loopback address.
 */
function requireThisMachine({ headers, socket }: FastifyRequest): void {
  if (!isLoopback(socket.localAddress) || !isLoopback(socket.remoteAddress)) {
    throw forbidden(
      'a request from another machine needs the admin token: send "Authorization: Bearer ' +
        '<token>", or set NOTIFICATION_MOCK_ADMIN_TOKEN for test fixtures and commands'
    )
  }
  const origins = relayedFor(headers)
  if (!origins.every(isLoopback)) {
    throw forbidden(
      `a proxy forwarded the request for ${origins.join(', ')}; requests from other machines ` +
        'need the admin token'
    )
  }
  const problem = untrustedOrigin(headers)
  if (problem) {
    throw forbidden(
      `${problem}; use 127.0.0.1 as the host of the server and of any page that calls it, ` +
        'or send the admin token'
    )
  }
}

/** Returns the client addresses in the headers that proxies add. */
function relayedFor({
  forwarded = '',
  'x-forwarded-for': addresses = ''
}: IncomingHttpHeaders): string[] {
  const standard = [...forwarded.matchAll(/for="?(?:\[([^\][;,=\s]*)\]|([^;,":\s]*))/gi)].map(
    ([, v6, other]) => v6 ?? other
  )
  const common = [addresses].flat().flatMap((list) => list.split(','))
  return [...standard, ...common]
    .map((address = '') => address.trim())
    .filter((address) => address !== '')
}

function forbidden(reason: string): DomainError {
  return new DomainError('forbidden', "Environments can't be managed from here", { reason })
}
