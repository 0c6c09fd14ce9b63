import type { IncomingHttpHeaders } from 'node:http'
import { listen } from '../listen.js'

/**
 * The API key of the minimal service, and the ids of its records. The integration `sendgrid` is
 * inactive.
 */
export const MINIMAL = {
  apiKey: 'minimal-key',
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
    id: `message-${index}`,
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

/**
 * Starts a service that follows the API reference. Where the API reference doesn't say, the service
 * does whatever is simplest.
 */
export async function startMinimalService() {
  const integrations = MINIMAL.integrations.map(integrationOf)
  return listen(({ method, url = '', headers }, response) => {
    const { status, body } = responseTo(method, url, headers, integrations)
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
}

const integrationOf = (identifier: string, index: number) => ({
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
})

type MinimalIntegration = ReturnType<typeof integrationOf>

function responseTo(
  method: string | undefined,
  url: string,
  headers: IncomingHttpHeaders,
  integrations: MinimalIntegration[]
): { status: number; body: object } {
  if (headers.authorization !== `ApiKey ${MINIMAL.apiKey}`)
    return { status: 401, body: { error: 'who are you?' } }
  const { pathname, searchParams } = new URL(url, 'http://minimal')
  const [, version, kind, id = '', action, stepId] = pathname.split('/')
  if (method === 'GET' && pathname === '/v1/messages')
    return { status: 200, body: pageOf(searchParams) }
  if (method === 'GET' && version === 'v2' && kind === 'workflows' && action === 'steps') {
    const exists = MINIMAL.workflows.includes(id) && stepId === 'mail'
    return exists
      ? { status: 200, body: stepOf(id) }
      : { status: 404, body: { error: 'no such step' } }
  }
  const integration = integrations.find(({ identifier }) => identifier === id)
  const isSetPrimary = method === 'POST' && kind === 'integrations' && action === 'set-primary'
  if (!isSetPrimary || !integration) return { status: 404, body: { error: 'not here' } }
  setPrimary(integration, integrations)
  return { status: 200, body: integration }
}

function setPrimary(integration: MinimalIntegration, integrations: MinimalIntegration[]): void {
  for (const other of integrations)
    if (other.channel === integration.channel) other.primary = other === integration
  integration.updatedAt = Date.now()
}

function pageOf(query: URLSearchParams) {
  const page = Number(query.get('page') ?? 0)
  const limit = Number(query.get('limit') ?? 10)
  const matching = messages.filter((message) => matches(message, query))
  const end = (page + 1) * limit
  return {
    data: matching.slice(page * limit, end),
    hasMore: matching.length > end,
    page,
    pageSize: limit
  }
}

function matches(message: (typeof messages)[number], query: URLSearchParams): boolean {
  const channel = query.get('channel')
  const subscriberId = query.get('subscriberId')
  const transactions = query.getAll('transactionId')
  const contextKeys = query.getAll('contextKeys').sort()
  return (
    (channel === null || message.channel === channel) &&
    (subscriberId === null || message.subscriber.subscriberId === subscriberId) &&
    (transactions.length === 0 || transactions.includes(message.transactionId)) &&
    (contextKeys.length === 0 || contextKeys.join() === message.contextKeys?.join())
  )
}
