import { expect, test } from 'vitest'
import { isSecretName } from '../../src/domain/credentials.js'
import { maskForm, maskSecrets } from '../../src/domain/masking.js'
import { SECRET_PART, SECRET_TEXTS } from '../support/secret-texts.js'

test.each(SECRET_TEXTS)('masks a secret in %s', (_title, text) => {
  const masked = maskSecrets(text)
  expect(masked).toContain('***')
  expect(masked).not.toMatch(SECRET_PART)
})

test('isSecretName recognizes words such as password and token in every naming style', () => {
  const names =
    'password passwd userPassword deviceTokens access_token X-Api-Key apikey secretKey ' +
    'inboundWebhookSigningKey x-novu-signature X-Hub-Signature-256 sig hmacsig dbpwd PWD cookie ' +
    'x-vercel-protection-bypass set-cookie key authorization proxy-authorization basicAuth ' +
    'clientsecret credentials passphrase jwt auth[token] user.password X-Amz-Credential ' +
    'private_key Ocp-Apim-Subscription-Key passwordHash secretAccessKey pass'
  expect(names.split(' ').filter((name) => !isSecretName(name))).toEqual([])
})

test('isSecretName returns false for ordinary names', () => {
  const names =
    'design signal keyboard idempotency-key secretary tokenizer author authorId monkey signed ' +
    'access-control-allow-credentials primaryKey max_tokens total_tokens token_type expires_in tokenExpiresAt tokenCount assign ' +
    'passwordless compass bypassed key_name contextKeys passwordChangedAt credentialsRequired ' +
    'cookies turkey significant tokenLimit pin'
  expect(names.split(' ').filter(isSecretName)).toEqual([])
})

test.each([
  '{"design":"a","signal":"b","keyboard":"c","tokens used":5,"password":null,"token":true}',
  '{"secret":{"a":true},"after":"shown","n":[1,"two"]}',
  'send the header "Authorization: ApiKey <key>"',
  'no environment has this key; the server prints the keys when it starts',
  'https://example.com/@ada?page=2&design=flat#key',
  'a < b && c = d; "quoted" and {braces} at 12:30',
  '{"text":"line\\n\\"quoted\\" \\u0041"}'
])('leaves a text without secrets unchanged: %s', (text) => {
  expect(maskSecrets(text)).toBe(text)
  expect(maskForm(text)).toBe(text)
})

/** Texts that make some regular expressions take quadratic time when they are repeated. */
const REPEATED = [
  ...['a', '"', '\\"', "a: '", '%25', '%2525', '&a', 'a="', ' a=', '{"a":', '{"token":[', '"a":'],
  ...['eyJ-', 'eyJaaaaaaa.', 'a://b', '://@', 'token', 'sig', 'sig1', 'api-', '1', ' ', 'a '],
  ...['"\n', '\\u0041', 'Bearer ', 'Basic', '-----BEGIN PRIVATE KEY-----', '?', '=', '[', '\\']
]
const EDGES = [
  ['', ''],
  ['{"', '\\\n'],
  ['{"a"', ':1}'],
  ['Bearer ', ''],
  ['://', '']
] as const

test.each(REPEATED)('masking takes linear time for a text that repeats %j', (part) => {
  for (const [start, end] of EDGES) {
    const durationOf = (length: number) => {
      const text = start + part.repeat(length / part.length) + end
      const before = process.cpuUsage()
      maskForm(maskSecrets(text))
      const { user, system } = process.cpuUsage(before)
      return (user + system) / 1000
    }
    // Use the minimum, because other processes and the garbage collector only add time.
    const minimumOf = (length: number) => Math.min(...[0, 1, 2].map(() => durationOf(length)))
    // A text that is 10 times as long would take a quadratic algorithm 100 times as long. Allow
    // 5 ms more, because short measurements are imprecise.
    expect(minimumOf(30_000), start).toBeLessThan(30 * minimumOf(3000) + 5)
  }
})
