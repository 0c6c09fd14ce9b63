import { expect, test } from 'vitest'
import { givenMock } from '../../support/mock.js'

/** What HAR 1.2 requires of each object, by its path; `[]` is each item of a list. */
const REQUIRED: Record<string, readonly string[]> = {
  log: ['version', 'creator', 'entries'],
  'log.creator': ['name', 'version'],
  'log.entries[]': ['startedDateTime', 'time', 'request', 'response', 'cache', 'timings'],
  'log.entries[].request': [
    'method',
    'url',
    'httpVersion',
    'cookies',
    'headers',
    'queryString',
    'headersSize',
    'bodySize'
  ],
  'log.entries[].request.headers[]': ['name', 'value'],
  'log.entries[].request.queryString[]': ['name', 'value'],
  'log.entries[].request.postData': ['mimeType', 'text'],
  'log.entries[].response': [
    'status',
    'statusText',
    'httpVersion',
    'cookies',
    'headers',
    'content',
    'redirectURL',
    'headersSize',
    'bodySize'
  ],
  'log.entries[].response.content': ['size', 'mimeType'],
  'log.entries[].timings': ['send', 'wait', 'receive']
}

/** Returns the paths of fields that HAR requires and a value lacks. */
function missingIn(value: unknown, path = ''): string[] {
  if (Array.isArray(value)) return value.flatMap((each) => missingIn(each, `${path}[]`))
  if (typeof value !== 'object' || value === null) return []
  const missing = (REQUIRED[path] ?? []).filter((name) => !(name in value)).map((name) => `${path}.${name}`)
  const inner = Object.entries(value).flatMap(([name, each]) => missingIn(each, path ? `${path}.${name}` : name))
  return [...missing, ...inner]
}

test('format=har gives the recorded requests as HAR 1.2, without secrets', async () => {
  const { get, post, url } = await givenMock({})
  await get('/v1/messages?limit=2&transactionId=a&transactionId=b%20c')
  await post('/v1/integrations/sendgrid-main/set-primary', {
    body: '{"password":"hunter22"}',
    headers: { 'content-type': 'application/json' }
  })
  await get('/v1/messages?channel=fax')
  const { json, text } = await get('/_mock/requests?format=har')
  expect(missingIn(json)).toEqual([])
  expect(json.log).toMatchObject({ version: '1.2', creator: { name: 'notification-mock' } })
  const [first, second, third] = json.log.entries
  expect(first).toMatchObject({
    request: {
      method: 'GET',
      url: `${url}/v1/messages?limit=2&transactionId=a&transactionId=b+c`,
      queryString: [
        { name: 'limit', value: '2' },
        { name: 'transactionId', value: 'a' },
        { name: 'transactionId', value: 'b c' }
      ]
    },
    response: { status: 200, statusText: 'OK' }
  })
  expect(Number.isNaN(Date.parse(first.startedDateTime))).toBe(false)
  expect(first.time).toBeGreaterThan(0)
  expect(second.request).toMatchObject({ method: 'POST', postData: { mimeType: 'application/json' } })
  expect(third.response).toMatchObject({ status: 422, headers: [{ name: 'x-mock-reason' }] })
  expect(text).not.toMatch(/development-key|hunter22/)
})

test('format=har keeps to the filters of the list', async () => {
  const { get } = await givenMock({})
  await get('/v1/messages?limit=2')
  await get('/v1/messages?channel=fax')
  const { json } = await get('/_mock/requests?format=har&status=422')
  expect(json.log.entries.map(({ response }: { response: { status: number } }) => response.status)).toEqual([422])
})

test('a format that is none is refused', async () => {
  const { get } = await givenMock({})
  expect(await get('/_mock/requests?format=xml')).toMatchObject({
    status: 422,
    json: { errors: { format: { messages: ['format must be one of json, har'] } } }
  })
})

test('a query that can not be decoded stands in the URL as it was sent, without secrets', async () => {
  const { get, url } = await givenMock({})
  await get('/v1/messages?limit=%&api_key=hunter22')
  const { json } = await get('/_mock/requests?format=har')
  expect(json.log.entries[0].request.url).toBe(`${url}/v1/messages?limit=%&api_key=***`)
})
