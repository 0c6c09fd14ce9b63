import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, before, test } from 'node:test'
import { app } from './app.mjs'

let server
before(async () => {
  server = app.listen(0, '127.0.0.1')
  await once(server, 'listening')
})
after(() => server.close())

async function call(method, path, body) {
  const response = await fetch(`http://127.0.0.1:${server.address().port}${path}`, {
    method,
    headers: { 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) })
  })
  return { status: response.status, json: await response.json() }
}

test('welcomes a new user', async () => {
  const user = { id: 'grace', email: 'grace@example.com' }
  assert.deepEqual(await call('POST', '/sign-up', user), {
    status: 201,
    json: { isWelcomed: true }
  })
})

test('shows messages', async () => {
  const { json } = await call('GET', '/messages')
  assert.equal(json.length, 5)
  assert.equal(json[0].channel, 'email')
})

test('makes a mail provider primary', async () => {
  const { json } = await call('PUT', '/mail-provider', { id: '66f1c2a47c9b1a0012ad0002' })
  assert.equal(json.isPrimary, true)
})
