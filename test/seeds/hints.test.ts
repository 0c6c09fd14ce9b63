import { expect, test } from 'vitest'
import { formatIssue } from '../../src/seeds/errors.js'
import { findSeedHints } from '../../src/seeds/hints.js'
import { readSeeds } from '../../src/seeds/read.js'
import { useLoggedMock } from '../support/logged-mock.js'
import { inShop } from '../support/resolved.js'

const HINT =
  "contains ${NAME}, but environment variables aren't expanded in a seed: write the value, " +
  'or let envsubst expand them and load the result with `--seed -`'

test('reports variables in API keys and integrations by name, without default values', () => {
  const seed = inShop(
    'apiKeys: ["key-1234", "${NAME}"]\n' +
      'integrations: [{ providerId: a, channel: sms, credentials: { token: "x${NAME:-secret}" } }]'
  )
  expect(findSeedHints(readSeeds([{ name: 's', seed }])).map(formatIssue)).toEqual([
    `s:3:27 environments[0].apiKeys[1]: ${HINT}`,
    `s:4:73 environments[0].integrations[0].credentials.token: ${HINT}`
  ])
})

test("ignores dollar signs that don't start a variable, and the content of messages", () => {
  const seed = inShop(
    'apiKeys: ["a-$NAME-{b}", "key-$1234"]\nmessages: [{ channel: sms, content: "${NAME}" }]'
  )
  expect(findSeedHints(readSeeds([{ name: 's', seed }]))).toEqual([])
})

test('logs a warning when a server starts with a seed that contains a variable', async () => {
  const { log } = await useLoggedMock({ seed: inShop('apiKeys: ["${NAME}"]') })
  expect(log).toContainEqual(
    expect.objectContaining({
      level: 40,
      msg: `seed seed:3:15 environments[0].apiKeys[0]: ${HINT}`
    })
  )
})
