import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { EnvironmentData } from '../../../src/seeds/environment-data.js'
import { writeGenerated } from '../../../src/seeds/export.js'
import type { SeedEnvironment } from '../../../src/seeds/format.js'
import { prepare } from '../../../src/seeds/generate/generation.js'
import { readSeeds } from '../../../src/seeds/read.js'
import { resolveSeeds } from '../../../src/seeds/resolve/resolve.js'
import { givenFolder } from '../../support/process.js'
import { environmentsOf, NOW, shopOf } from '../../support/resolved.js'

const ENVIRONMENTS = environmentsOf('default')
const [DEVELOPMENT] = ENVIRONMENTS as [EnvironmentData]

const generated = (data: EnvironmentData, messages: number) => prepare(data, { messages, subscribers: 30 }, NOW, 0)

function givenFile(): { folder: string; file: string } {
  const folder = givenFolder()
  const file = join(folder, 'out.yaml')
  writeFileSync(file, 'before')
  return { folder, file }
}

/** What a text has to be quoted for, in JSON and in YAML. */
const ODD = 'a "quoted": \'one\' # \\ {{payload.name}}\n\t- 田中 🦊\u2028 &x *y'

const AWKWARD: Omit<SeedEnvironment, 'name'> = {
  apiKeys: ['"key"'],
  profile: 'live',
  assumptions: { envelope: 'bare' },
  integrations: [{ providerId: ODD, channel: 'email', name: ODD }],
  subscribers: [{ subscriberId: ODD, firstName: ODD, email: ODD, phone: ODD }],
  workflows: [
    { identifier: ODD, steps: [{ type: 'in_app', controlValues: { body: ODD, primaryAction: { label: ODD } } }] }
  ],
  messages: [{ channel: 'email', contextKeys: ['b:"#田 \\', 'a:1'] }]
}
const awkward = { ...shopOf(AWKWARD), name: ODD }

test.each([...ENVIRONMENTS, awkward])('the seed of $name gives back all of it', async (data) => {
  const { file } = givenFile()
  const made = generated(data, 300)
  const counts: number[] = []
  await writeGenerated(
    file,
    { environment: data, generation: made },
    { onProgress: (count) => void counts.push(count) }
  )
  // At another time: nothing of them may be left to the defaults of that.
  const all = resolveSeeds(readSeeds([file]), NOW + 86_400_000)
  const subscribers = [...data.subscribers, ...made.subscribers]
  const expected = { ...data, subscribers, messages: [...data.messages, ...made.messages()] }
  expect(JSON.stringify(all)).toBe(JSON.stringify([expected]))
  expect(counts.length).toBeGreaterThan(0)
  expect(Math.max(...counts)).toBeLessThanOrEqual(300)
})

test.each([
  ['it is aborted', (stop: AbortController) => stop.abort()],
  [
    'making fails',
    () => {
      throw new Error('failed')
    }
  ]
])('a file is as it was when %s, and no more are made soon after', async (_when, interrupt) => {
  const { folder, file } = givenFile()
  const stop = new AbortController()
  const made = generated(DEVELOPMENT, 10_000)
  let count = 0
  const messages = function* () {
    for (const message of made.messages()) {
      if (++count === 1000) interrupt(stop)
      yield message
    }
  }
  const generation = { ...made, messages }
  const writing = writeGenerated(file, { environment: DEVELOPMENT, generation }, { signal: stop.signal })
  await expect(writing).rejects.toThrow(/aborted$|^failed/)
  expect(count).toBeLessThan(8000)
  expect(readFileSync(file, 'utf8')).toBe('before')
  expect(readdirSync(folder)).toEqual(['out.yaml'])
})
