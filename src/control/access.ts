import { timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { DomainError } from '../domain/errors.js'
import { hashOfKey } from '../environments/api-keys.js'
import { isLoopback, untrustedOrigin } from '../http/loopback.js'

/**
 * Guards the routes about all environments. Loopback requests need no token unless they come from a
 * page of another site (Origin), through a foreign name that resolves to this machine (Host), or
 * through a proxy for another machine. All other requests need the admin token. A wrong token is
 * always rejected.
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

/** Throws `forbidden` unless this machine sent the request, and no page of another site. */
function requireThisMachine({ headers, socket }: FastifyRequest): void {
  if (!isLoopback(socket.localAddress) || !isLoopback(socket.remoteAddress)) {
    throw forbidden(
      'from another machine this needs the admin token: "Authorization: Bearer <token>"; test ' +
        'fixtures and commands take it from NOTIFICATION_MOCK_ADMIN_TOKEN'
    )
  }
  const origins = relayedFor(headers)
  if (!origins.every(isLoopback)) {
    throw forbidden(
      `a proxy forwards it for ${origins.join(', ')}; other machines need the admin token`
    )
  }
  const problem = untrustedOrigin(headers)
  if (problem) {
    throw forbidden(
      `${problem}: request 127.0.0.1 from a page of this machine, or send the admin token`
    )
  }
}

/** Returns the client addresses that proxies report. */
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
