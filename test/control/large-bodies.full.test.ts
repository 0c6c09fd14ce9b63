import { expect, test } from 'vitest'
import { useMock } from '../support/mock.js'

test('responds with 413 to a body that is too large, and suggests a seed file', async () => {
  const mock = await useMock()
  const reason =
    'bodies are limited to 1 MiB, and seeds to 8 MiB of JSON or 2 MiB of YAML; start the server ' +
    'with --seed to load a larger seed from a file, or use `generate:` in a seed file to add ' +
    'many messages'
  const MIB = 1024 * 1024
  const seed = (length: number) =>
    JSON.stringify({ environments: [{ name: 'a' }], x: 'x'.repeat(length) })
  const yaml = (length: number) =>
    `environments: [{name: a}]\n${'# A comment.\n'.repeat(length / 13)}`
  for (const [path, body, expected] of [
    ...['/_mock/seed', '/_mock/environments'].map((path) => [path, seed(8 * MIB), 413] as const),
    ...['/_mock/seed', '/_mock/environments'].map(
      (path) => [path, seed(8 * MIB - 100), 422] as const
    ),
    ['/_mock/seed', yaml(2 * MIB + 13), 413],
    ['/_mock/seed', yaml(MIB), 200],
    ['/_mock/faults', seed(MIB), 413]
  ] as const) {
    const { status, headers } = await mock.post(path, { body })
    expect([status, headers.get('x-mock-reason') === reason], path).toEqual([
      expected,
      expected === 413
    ])
  }
})
