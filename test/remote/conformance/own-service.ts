import type { IncomingMessage, ServerResponse } from 'node:http'
import { listen } from '../listen.js'

/** Its one key, a workflow and a step, and its integrations: of two channels, one of them inactive. */
export const OWN = {
  apiKey: 'own-key',
  workflows: ['welcome', 'goodbye'],
  steps: ['mail'],
  integrations: ['postmark', 'sendgrid', 'twilio', 'vonage']
}

const OWNER = { _environmentId: 'env', _organizationId: 'org' }
const TEN_DAYS = 864_000_000
const CHANNELS = ['email', 'sms', 'in_app']

const messages = Array.from({ length: 44 }, (_, index) => {
  const subscriberId = `User ${index % 4}`
  const at = new Date(1.77e12 + Math.floor(index / 3) * 60_000)
  const time = new Date(at.getTime() - TEN_DAYS).toISOString()
  return {
    _id: `message-${index}`,
    ...OWNER,
    _notificationId: `notification-${index}`,
    _subscriberId: `internal-${index % 4}`,
    subscriber: {
      _id: `internal-${index % 4}`,
      subscriberId,
      ...OWNER,
      deleted: false,
      createdAt: time,
      updatedAt: time,
      id: subscriberId
    },
    createdAt: at.toUTCString(),
    updatedAt: at.toUTCString(),
    __v: 0,
    transactionId: `order ${Math.floor(index / 2)}`,
    channel: CHANNELS[index % 3],
    read: false,
    seen: false,
    cta: {},
    status: 'sent',
    contextKeys: [[], ['tenant:acme'], ['region:eu', 'tenant:acme']][index % 3]
  }
})

const stepOf = (workflowId: string) => ({
  controls: {},
  variables: { type: 'object', properties: {} },
  stepId: 'mail',
  _id: `step-of-${workflowId}`,
  name: 'Mail',
  slug: `mail-of-${workflowId}`,
  type: 'email',
  origin: 'external',
  workflowId,
  workflowDatabaseId: `id-of-${workflowId}`
})

/** A service that was written from the contract alone: what that leaves open, it does as comes easiest. */
export async function startOwnService() {
  const integrations = OWN.integrations.map((identifier, index) => ({
    _id: identifier,
    ...OWNER,
    name: identifier,
    identifier,
    providerId: identifier,
    channel: index < 2 ? 'email' : 'sms',
    credentials: {},
    active: index !== 1,
    deleted: false,
    primary: index % 2 === 0,
    updatedAt: Date.now()
  }))
  return listen(answer)

  function answer({ method, url = '', headers }: IncomingMessage, response: ServerResponse) {
    const send = (status: number, body: object) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    if (headers.authorization !== `ApiKey ${OWN.apiKey}`)
      return send(401, { error: 'who are you?' })
    const { pathname, searchParams } = new URL(url, 'http://own')
    const [, version, kind, id, what, stepId] = pathname.split('/')
    if (method === 'GET' && pathname === '/v1/messages') return send(200, pageOf(searchParams))
    if (method === 'GET' && version === 'v2' && kind === 'workflows' && what === 'steps') {
      const isThere = OWN.workflows.includes(id ?? '') && stepId === 'mail'
      return isThere ? send(200, stepOf(id ?? '')) : send(404, { error: 'no such step' })
    }
    const integration = integrations.find((each) => each.identifier === id)
    const isSetPrimary = method === 'POST' && kind === 'integrations' && what === 'set-primary'
    if (!isSetPrimary || !integration) return send(404, { error: 'not here' })
    for (const each of integrations)
      if (each.channel === integration.channel) each.primary = each === integration
    integration.updatedAt = Date.now()
    return send(200, integration)
  }
}

function pageOf(query: URLSearchParams) {
  const [page, limit] = [Number(query.get('page') ?? 0), Number(query.get('limit') ?? 10)]
  const [channel, subscriberId] = [query.get('channel'), query.get('subscriberId')]
  const [transactions, contexts] = [
    query.getAll('transactionId'),
    query.getAll('contextKeys').sort()
  ]
  const found = messages.filter(
    (each) =>
      (channel === null || each.channel === channel) &&
      (subscriberId === null || each.subscriber.subscriberId === subscriberId) &&
      (transactions.length === 0 || transactions.includes(each.transactionId)) &&
      (contexts.length === 0 || contexts.join() === each.contextKeys?.join())
  )
  const end = (page + 1) * limit
  return {
    data: found.slice(page * limit, end),
    hasMore: found.length > end,
    page,
    pageSize: limit
  }
}
