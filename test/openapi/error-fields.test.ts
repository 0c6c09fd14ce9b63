import { expect, test } from 'vitest'
import { PROFILES } from '../../src/domain/assumptions.js'
import { SENDGRID, setPrimary } from '../support/control.js'
import { type TestRequest, useMock } from '../support/mock.js'

interface Provoked {
  operation: string
  path: string
  request?: TestRequest
}

const FIELDS = ['errors', 'stepId', 'workflowId']
const STEP = '/v2/workflows/order-shipped/steps/email-step'

/** The id of an integration in another environment of the default seed. */
const FOREIGN = '6703aa1c5d2e8b0013b70001'

const fault = (status: number): TestRequest => ({ headers: { 'x-mock-fault': `status=${status}` } })
const post = (request: TestRequest = {}): TestRequest => ({ method: 'POST', ...request })
const withKey = (body: string) => post({ body, headers: { 'idempotency-key': 'reused-key' } })

/** Requests that together provoke every error in the documents of both profiles. */
const PROVOKED: readonly Provoked[] = [
  ...[
    post({ body: '{', headers: { 'content-type': 'application/json' } }),
    post({ key: null }),
    post({ body: 'x'.repeat(1024 * 1024 + 1) }),
    post(fault(409)),
    post(fault(422)),
    post(fault(500)),
    withKey('{"a":1}'),
    withKey('{"a":2}')
  ].map((request) => ({ operation: 'post set-primary', path: setPrimary(SENDGRID), request })),
  ...['none', '0'.repeat(24), FOREIGN].map((id) => ({
    operation: 'post set-primary',
    path: setPrimary(id),
    request: post()
  })),
  ...['page=-1', 'subscriberId=user-none'].map((query) => ({
    operation: 'get messages',
    path: `/v1/messages?${query}`
  })),
  ...[fault(400), fault(500), { key: null }].map((request) => ({
    operation: 'get messages',
    path: '/v1/messages',
    request
  })),
  ...[fault(400), fault(500), { key: null }].map((request) => ({
    operation: 'get steps',
    path: STEP,
    request
  })),
  { operation: 'get steps', path: STEP.replace('order-shipped', 'none') },
  { operation: 'get steps', path: STEP.replace('email-step', 'none') }
]

test.each(PROFILES)(
  'the document of the profile %s lists the error fields that the server sends',
  async (profile) => {
    const mock = await useMock({ profile })
    const sent = new Map<string, Set<string>>()
    for (const { operation, path, request } of PROVOKED) {
      const { status, json } = await mock.call(path, request)
      if (status < 400) continue
      const id = `${operation} ${status}`
      const fields = FIELDS.filter((field) => field in json)
      sent.set(id, new Set([...(sent.get(id) ?? []), ...fields]))
    }
    const sorted = [...sent].map(([id, fields]) => [id, [...fields].sort()])
    const documented = documentedFields((await mock.get('/openapi.json')).json)
    expect(documented).toHaveProperty(['get messages 422'], ['errors'])
    expect(Object.fromEntries(sorted)).toMatchObject(documented)
  }
)

/** Returns the fields in `FIELDS` that the document lists for each error of each operation. */
// biome-ignore lint/suspicious/noExplicitAny: the document is read without types
function documentedFields({ paths, components }: any): Record<string, string[]> {
  const byError: Record<string, string[]> = {}
  for (const [path, methods] of Object.entries<object>(paths)) {
    const [method, { responses }] = Object.entries(methods)[0] as [string, { responses: object }]
    const name = path.split('/').findLast((part) => !part.startsWith('{'))
    for (const [status, { content }] of Object.entries(responses)) {
      const { $ref } = content['application/json'].schema
      if (Number(status) < 400) continue
      const { properties } = components.schemas[$ref.replace('#/components/schemas/', '')]
      byError[`${method} ${name} ${status}`] = FIELDS.filter((field) => field in properties)
    }
  }
  return byError
}
