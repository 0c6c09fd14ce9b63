import { timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { DomainError } from '../domain/errors.js'
import { hashOfKey } from '../environments/api-keys.js'

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
      if (token === undefined || adminToken === undefined) refuseStranger(request)
      else if (!timingSafeEqual(hashOfKey(token), hashOfKey(adminToken)))
        throw refused('the admin token is another one')
      done()
    })
  },
  { name: 'server-access' }
)

function refuseStranger({ headers, socket }: FastifyRequest): void {
  if (!isLoopback(socket.localAddress) || !isLoopback(socket.remoteAddress)) {
    throw refused(
      'from another machine this needs the admin token: "Authorization: Bearer <token>"; test fixtures and commands take it from NOTIFICATION_MOCK_ADMIN_TOKEN'
    )
  }
  const origins = relayedFor(headers)
  if (!origins.every(isLoopback)) {
    throw refused(
      `a proxy asks for ${origins.join(', ')}: from another machine this needs the admin token`
    )
  }
  const stranger = strangerIn(headers)
  if (stranger)
    throw refused(
      `${stranger}: ask for 127.0.0.1 from a page of this machine, or send the admin token`
    )
}

/**
 * Returns the sign that another site sends the request, from its Host or Origin header, or
 * undefined if there is none.
 */
export function strangerIn({ host, origin }: IncomingHttpHeaders): string | undefined {
  if (!isLoopbackName(host)) return `the Host header is ${host ?? 'missing'}, not this machine`
  if (origin === undefined || isLoopbackName(origin.replace(/^https?:\/\//, ''))) return undefined
  return 'the request comes from a page of another site (Origin)'
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

export function isLoopback(address: string | undefined): boolean {
  return address !== undefined && /^(::1|(::ffff:)?127\.\d+\.\d+\.\d+)$/.test(address)
}

function isLoopbackName(host: string | undefined): boolean {
  return host !== undefined && /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?$/i.test(host)
}

function refused(reason: string): DomainError {
  return new DomainError('forbidden', 'Environments can not be managed from here', { reason })
}
