import { expect, test } from 'vitest'
import { compareResponses } from '../../../src/remote/comparison/compare-responses.js'

/** Compares two responses, and returns the value of `explainedBy` for each difference. */
function explanations(path: string, target: [number, unknown], ours: [number, unknown]) {
  const request = { method: path.includes('set-primary') ? 'POST' : 'GET', path } as const
  const [targetStatus, targetBody] = target
  const [ourStatus, ourBody] = ours
  const targetResponse = { status: targetStatus, body: targetBody }
  const ourResponse = { status: ourStatus, body: ourBody }
  return compareResponses(request, targetResponse, ourResponse).map(
    ({ explainedBy }) => explainedBy
  )
}

const LIST = '/v1/messages?limit=1'
const STEP = '/v2/workflows/w/steps/s'
const PRIMARY = '/v1/integrations/i/set-primary'
const page = (more: object) => ({ data: [{ _id: 'a' }], page: 0, pageSize: 1, ...more })
const unknown = { statusCode: 404, error: 'Not Found' }

const signedWith = (key: string) => ({ configurations: { inboundWebhookSigningKey: key } })

test.each([
  [
    'a different total',
    LIST,
    page({ totalCount: 3, hasMore: true }),
    page({ totalCount: 4, hasMore: true })
  ],
  [
    'a different hasMore',
    LIST,
    page({ totalCount: 3, hasMore: true }),
    page({ totalCount: 3, hasMore: false })
  ],
  [
    'a different order',
    LIST,
    { data: [{ _id: 'a' }, { _id: 'b' }] },
    { data: [{ _id: 'b' }, { _id: 'a' }] }
  ],
  ['a missing message', LIST, { data: [{ _id: 'a' }, { _id: 'b' }] }, { data: [{ _id: 'a' }] }],
  ['a missing field', LIST, page({ data: [{ _id: 'a', read: true }] }), page({})],
  [
    'a field that is null instead of absent',
    LIST,
    page({ data: [{ _id: 'a', email: null }] }),
    page({})
  ],
  [
    'a different hasMore in pages without totalCount',
    LIST,
    page({ hasMore: true }),
    page({ hasMore: false })
  ],
  [
    'a different control value',
    STEP,
    { controls: { values: { a: 1 } } },
    { controls: { values: { a: 2 } } }
  ],
  [
    'a missing control value',
    STEP,
    { controls: { values: { a: 1 } } },
    { controls: { values: {} } }
  ],
  [
    'a different credential',
    PRIMARY,
    { credentials: { user: 'a' } },
    { credentials: { user: 'b' } }
  ],
  [
    'a missing credential',
    PRIMARY,
    { credentials: { user: 'a', from: 'b' } },
    { credentials: { user: 'a' } }
  ],
  ['a different signing key', PRIMARY, signedWith('a'), signedWith('b')]
])('no assumption explains %s', (_, path, target, ours) => {
  expect(explanations(path, [200, target], [200, ours])).toEqual([undefined])
})

test('no assumption explains an unexpected status', () => {
  const explainedBy = explanations(LIST, [500, { ...unknown, statusCode: 500 }], [200, page({})])
  expect(new Set(explainedBy)).toEqual(new Set([undefined]))
  expect(explanations(PRIMARY, [201, {}], [200, {}])).toEqual([undefined])
})

test('assumptions explain fields that only one server returns', () => {
  const totals = page({ totalCount: 1, hasMore: false })
  expect(explanations(LIST, [200, page({ hasMore: true })], [200, totals])).toEqual([
    'total-count',
    'total-count'
  ])
  const step = { controls: { uiSchema: {} }, controlValues: { a: 1 } }
  const valued = { ...step, controls: { uiSchema: {}, values: { a: 1 } } }
  expect(explanations(STEP, [200, step], [200, valued])).toEqual(['control-values'])
  const bare = { data: { credentials: {}, configurations: {} } }
  const full = { data: { credentials: { user: 'a' }, ...signedWith('k') } }
  expect(explanations(PRIMARY, [200, bare], [200, full])).toEqual(['credentials', 'credentials'])
})

test('the assumption `message-extras` explains missing fields, but not different values', () => {
  const messages = (fields: object) => page({ data: [{ _id: 'm1', ...fields }] })
  const extras = { id: 'm1', updatedAt: 'now', __v: 0 }
  const added = explanations(LIST, [200, messages(extras)], [200, messages({})])
  expect(added).toEqual(['message-extras', 'message-extras', 'message-extras'])
  const changed = messages({ ...extras, id: 'm2' })
  expect(explanations(LIST, [200, messages(extras)], [200, changed])).toEqual([undefined])
})

test("`unknown-subscriber-filter` explains a 404 only if the other server's list is empty", () => {
  const path = '/v1/messages?subscriberId=a'
  const none = [404, { ...unknown, message: 'Subscriber not found for id a' }] as [number, unknown]
  expect(explanations(path, [200, page({})], none)).not.toContain('unknown-subscriber-filter')
  const found = explanations(path, [200, { ...page({}), data: [] }], none)
  expect(new Set(found)).toEqual(new Set(['unknown-subscriber-filter']))
})

test('`unknown-workflow` explains a difference only if both errors are about the workflow', () => {
  const named = { ...unknown, message: 'Workflow with id w not found' }
  const withFacts = {
    ...unknown,
    message: 'Workflow cannot be found',
    workflowId: 'w',
    ctx: { workflowId: 'w' }
  }
  expect(new Set(explanations(STEP, [404, withFacts], [404, named]))).toEqual(
    new Set(['unknown-workflow'])
  )
  const step = { ...unknown, message: 'Step with id s not found' }
  expect(explanations(STEP, [404, step], [404, named])).toEqual([undefined])
})
