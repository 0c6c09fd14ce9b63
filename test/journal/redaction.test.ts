import { expect, test } from 'vitest'
import {
  DEVELOPMENT,
  journalOf,
  PRODUCTION,
  setPrimary,
  unauthenticatedJournalOf
} from '../support/control.js'
import { useMock } from '../support/mock.js'

const BASIC = Buffer.from(`${DEVELOPMENT}:`).toString('base64')

test('redacts API keys wherever a client sends them', async () => {
  const mock = await useMock()
  const encoded = DEVELOPMENT.replace('-', '%2D')
  const twice = encoded.replace('%', '%25')
  for (const key of [DEVELOPMENT, PRODUCTION, null]) {
    await mock.get(`/v1/messages?apiKey=${DEVELOPMENT}&page=${DEVELOPMENT}`, { key })
    await mock.get(`/v1/messages?${DEVELOPMENT}`, { key })
    await mock.get(`/v1/messages?x=ApiKey%20${encoded}&y=${twice}&z=${twice.replace('%', '%25')}`, {
      key
    })
    await mock.get(`/v1/${twice}`, { key })
    await mock.post(setPrimary(DEVELOPMENT), { key })
    await mock.post(setPrimary(`ApiKey%20${encoded}`), { key })
    await mock.get(`/v1/keys/${DEVELOPMENT}`, { key })
    await mock.get(`/messages/${DEVELOPMENT}?limit=%zz&key=${DEVELOPMENT}`, { key })
    await mock.get(`/v1/%ff${DEVELOPMENT}%c3%28?x=%ff${DEVELOPMENT}`, { key })
    await mock.get('/v1/messages', {
      key,
      headers: { 'x-note': `my key is ${DEVELOPMENT}, yes`, cookie: `k=${DEVELOPMENT}` }
    })
    await mock.post(setPrimary('none'), {
      key,
      body: JSON.stringify({ a: { b: [DEVELOPMENT] }, [DEVELOPMENT]: 1 })
    })
    await mock.post(setPrimary('none'), {
      key,
      body: `authorization=ApiKey+${DEVELOPMENT}&x=${encoded}`
    })
    await mock.post(setPrimary('none'), { key, body: `key ${DEVELOPMENT}` })
  }
  for (const authorization of [
    DEVELOPMENT,
    `Bearer ${DEVELOPMENT}`,
    `Basic ${BASIC}`,
    `ApiKey:${DEVELOPMENT}`
  ]) {
    await mock.get('/v1/messages', { headers: { authorization } })
  }
  const journals = [
    await journalOf(mock),
    await journalOf(mock, '', PRODUCTION),
    await unauthenticatedJournalOf(mock)
  ]
  expect(journals.map(({ length }) => length)).toEqual([13, 13, 17])
  const shown = JSON.stringify(journals)
  // Also the start of the key in a Basic header.
  const forms = [DEVELOPMENT, encoded, twice, BASIC, BASIC.slice(0, BASIC.length / 2)]
  expect(forms.filter((form) => shown.includes(form))).toEqual([])
})

test('redacts the admin token everywhere, even with base64 characters', async () => {
  const adminToken = 'Zm9v/YmFy+w=='
  const mock = await useMock({ adminToken })
  const encoded = encodeURIComponent(adminToken)
  for (const key of [DEVELOPMENT, null]) {
    await mock.get(`/v1/messages?x=${encoded}`, {
      key,
      headers: { 'x-note': `it is ${adminToken}!` }
    })
    await mock.post(setPrimary(encoded), { key, body: JSON.stringify({ a: adminToken }) })
    await mock.get(`/v1/%zz?x=${adminToken}`, { key })
  }
  const journals = [await journalOf(mock), await unauthenticatedJournalOf(mock)]
  expect(journals.map(({ length }) => length)).toEqual([3, 3])
  const shown = JSON.stringify(journals)
  expect([adminToken, encoded].filter((form) => shown.includes(form))).toEqual([])
})

test('redacts a key in a binary body and at the end of a cut body', async () => {
  const mock = await useMock()
  const headers = { authorization: `ApiKey ${PRODUCTION}` }
  const binary = Buffer.concat([
    Buffer.from([255, 0, 32]),
    Buffer.from(DEVELOPMENT),
    Buffer.from([32, 254])
  ])
  await fetch(`${mock.url}${setPrimary('none')}`, { method: 'POST', headers, body: binary })
  const long = `${' '.repeat(65_536 - 8)}${DEVELOPMENT} and more`
  await fetch(`${mock.url}${setPrimary('none')}`, { method: 'POST', headers, body: long })
  const [first, second] = await journalOf(mock, '', PRODUCTION)
  expect(Buffer.from(first?.body ?? '', 'base64').toString('latin1')).toContain(' *** ')
  expect(second?.body).toMatch(/^ +$/)
})

test('redacts values named like credentials, and keeps the scheme of Authorization', async () => {
  const mock = await useMock()
  await mock.post(`${setPrimary('none')}?access_token=t1&page=2`, {
    headers: { 'x-api-key': 's1', 'proxy-authorization': 'Basic czI6', 'idempotency-key': 'kept' },
    body: '{"apiKey":"s3","secretKey":"s\\"4","password": "s5","token":678901,"from":"me"}'
  })
  const [entry] = await journalOf(mock)
  expect(entry).toMatchObject({
    query: { access_token: '***', page: '2' },
    headers: {
      'x-api-key': '***',
      'proxy-authorization': 'Basic ***',
      authorization: 'ApiKey ***',
      'idempotency-key': 'kept'
    },
    body: '{"apiKey":"***","secretKey":"***","password": "***","token":"***","from":"me"}'
  })
})

test('redacts a parameter with the percent-encoded name of a credential, also in a malformed query', async () => {
  const mock = await useMock()
  const query = 'tok%65n=hidden-1&%61piKey=hidden-2&%zz&page=shown'
  const answer = await mock.get(`/v1/messages?${query}`)
  await mock.post(setPrimary('none'), { body: query })
  const entries = await Promise.all(
    [1, 2].map((sequence) => mock.get(`/_mock/requests/${sequence}`))
  )
  for (const { text } of [answer, ...entries]) {
    expect(text).toContain('shown')
    expect(text).not.toContain('hidden')
  }
})
