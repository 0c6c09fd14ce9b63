import { expect, test } from 'vitest'
import { DEVELOPMENT } from '../support/control.js'
import { useMock } from '../support/mock.js'

/** Names that every object inherits from its prototype. */
const INHERITED = ['toString', 'constructor', '__proto__']

test.each(INHERITED)(
  'rejects a field or parameter named %s like any other unknown name',
  async (name) => {
    const mock = await useMock()
    const field = `{${JSON.stringify(name)}: 1}`
    for (const [path, body, expected] of [
      ['/_mock/clock/advance', `{"by": 1, ${field.slice(1)}`, name],
      ['/_mock/seed', field, name],
      ['/_mock/environments', `{"assumptions": ${field}}`, `assumptions.${name}`],
      [`/_mock/reset?${name}=1`, '{}', name]
    ] as const) {
      const { status, json } = await mock.post(path, { body })
      expect([status, Object.keys(json.errors)], path).toEqual([422, [expected]])
    }
  }
)

test('returns free-form data unchanged, even if it has fields such as __proto__', async () => {
  const mock = await useMock()
  const unusual =
    '{"__proto__":{"a":[{"__proto__":1}]},"constructor":{"prototype":null},"toString":"text"}'
  const seed = `{"environments":[{"name":"Odd",
    "subscribers":[{"subscriberId":"ada","data":${unusual}}],
    "workflows":[{"identifier":"flow",
      "steps":[{"stepId":"step","type":"email","controlValues":${unusual}}]}],
    "messages":[{"channel":"email","subscriberId":"ada","workflow":"flow",
      "payload":${unusual},"overrides":${unusual}}],
    "integrations":[{"identifier":"mail","providerId":"smtp","channel":"email",
      "credentials":{"tlsOptions":${unusual}}}]}]}`
  const countIn = ({ text }: { text: string }) => text.split(unusual).length - 1
  for (const body of [seed, seed.replaceAll('"name":"Odd"', 'name: Odd')]) {
    expect((await mock.post('/_mock/seed?mode=replace', { body })).text).toBe('{"mode":"replace"}')
    const responses = [
      mock.get('/v1/messages'),
      mock.get('/v2/workflows/flow/steps/step'),
      mock.get('/_mock/state')
    ]
    expect((await Promise.all(responses)).map(countIn)).toEqual([3, 1, 6])
    expect(countIn(await mock.post('/v1/integrations/mail/set-primary'))).toBe(1)
    const state = await mock.get('/_mock/state')
    const { apiKey } = (await mock.post('/_mock/environments', { body: `{"seed":${state.text}}` }))
      .json
    expect(countIn(await mock.get('/_mock/state', { key: apiKey }))).toBe(6)
  }
})

const nested = (depth: number) => `${'[{"a":'.repeat(depth / 2)}1${'}]'.repeat(depth / 2)}`

test('every route rejects a body that is nested more than 100 levels deep', async () => {
  const mock = await useMock()
  const deep = { body: { messages: ['body is nested more than 100 levels deep: flatten it'] } }
  for (const depth of [102, 150_000]) {
    for (const path of [
      '/_mock/faults',
      '/_mock/environments',
      '/_mock/requests/verify',
      '/_mock/reset'
    ]) {
      const { status, json } = await mock.post(path, { body: nested(depth) })
      expect([status, json.errors], path).toEqual([422, deep])
    }
  }
  expect((await mock.get('/_mock/environments')).json.environments).toHaveLength(3)
  // The request's body and `effect` are two of the 100 allowed levels, so 98 levels are left.
  const { status } = await mock.post('/_mock/faults', {
    body: `{"effect": {"status": 503, "body": ${nested(98)}}}`
  })
  // Use `fetch`, because the test client rejects response bodies that the OpenAPI document doesn't
  // describe.
  const sent = await fetch(`${mock.url}/v1/messages`, {
    headers: { authorization: `ApiKey ${DEVELOPMENT}` }
  })
  expect([status, await sent.text()]).toEqual([201, nested(98)])
})
