import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { EnvironmentData } from '../../../src/seeds/environment-data.js'
import { generation } from '../../../src/seeds/generate/generation.js'
import { OUT_NAME, writeGenerated } from '../../../src/seeds/generate/out.js'
import { readSeeds } from '../../../src/seeds/read.js'
import { resolveSeeds } from '../../../src/seeds/resolve/resolve.js'

const NOW = Date.UTC(2026, 1, 18, 12, 30)
const ENVIRONMENTS = resolveSeeds(readSeeds([join(import.meta.dirname, '../../../seeds/default.yaml')]), NOW)
const [DEVELOPMENT] = ENVIRONMENTS as [EnvironmentData]

function givenFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'generate-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return folder
}

const generated = (data: EnvironmentData, messages: number) => generation(data, { messages, subscribers: 30 }, NOW)

test.each(['a.yaml', 'folder.json/a.YML', 'a.ndjson', 'a.jsonl'])('%s can be written', (file) => {
  expect(file).toMatch(OUT_NAME)
})

test.each(['a.json', 'yaml', 'folder.yaml/a'])('%s can not be written', (file) => {
  expect(file).not.toMatch(OUT_NAME)
})

/** What a text has to be quoted for, in JSON and in YAML. */
const ODD = 'a "quoted": \'one\' # \\ {{payload.name}}\n\t- 田中 🦊\u2028 &x *y'

const [AWKWARD] = resolveSeeds(
  readSeeds([
    {
      name: 'awkward',
      seed: {
        environments: [
          {
            name: ODD,
            apiKeys: ['"key"'],
            profile: 'live',
            assumptions: { envelope: 'bare' },
            integrations: [
              { providerId: ODD, channel: 'email', name: ODD },
              { providerId: 'whatsapp-business', channel: 'chat' },
              { providerId: 'ses', channel: 'sms', active: false }
            ],
            subscribers: [
              { subscriberId: ODD, firstName: ODD, email: ODD, phone: ODD },
              { subscriberId: 'no', phone: '' }
            ],
            workflows: [
              {
                identifier: ODD,
                steps: [
                  { type: 'email', stepId: 'first', controlValues: { subject: ODD, body: ODD } },
                  { type: 'email', stepId: 'second', controlValues: { subject: ODD, body: ODD } },
                  { type: 'chat', controlValues: { body: ODD } },
                  { type: 'sms', controlValues: { body: ODD } },
                  { type: 'push', controlValues: { subject: ODD, body: ODD } },
                  {
                    type: 'in_app',
                    controlValues: {
                      body: ODD,
                      redirect: { url: ODD },
                      primaryAction: { label: ODD },
                      secondaryAction: { label: ODD }
                    }
                  }
                ]
              }
            ],
            messages: [{ channel: 'email', contextKeys: ['b:"#田 \\', 'a:1'] }]
          }
        ]
      }
    }
  ]),
  NOW
) as [EnvironmentData]

test.each([
  ...ENVIRONMENTS.map((data) => [data.name, data] as const),
  ['an environment with odd names', AWKWARD] as const
])('the seed of %s gives back all of it', async (_name, data) => {
  const file = join(givenFolder(), 'out.yaml')
  const made = generated(data, 300)
  await writeGenerated(file, { environment: data, generation: made })
  // At another time: nothing of them may be left to the defaults of that.
  const [read, ...others] = resolveSeeds(readSeeds([file]), NOW + 86_400_000)
  expect(others).toEqual([])
  const { messages, ...rest } = read as EnvironmentData
  const { messages: own, ...expected } = { ...data, subscribers: [...data.subscribers, ...made.subscribers] }
  expect(JSON.stringify(rest)).toBe(JSON.stringify(expected))
  expect(messages.map((message) => JSON.stringify(message))).toEqual([
    ...own.map((message) => JSON.stringify(message)),
    ...[...made.messages()].map((message) => JSON.stringify(message))
  ])
})

test('a seed without messages can be read too', async () => {
  const file = join(givenFolder(), 'out.yaml')
  const data = { ...DEVELOPMENT, messages: [] }
  await writeGenerated(file, { environment: data, generation: generated(data, 0) })
  expect(resolveSeeds(readSeeds([file]), NOW)).toMatchObject([{ name: 'Development', messages: [] }])
})

test('NDJSON is the messages, one a line', async () => {
  const linesOf = async (format: 'yaml' | 'ndjson') => {
    const file = join(givenFolder(), `out.${format}`)
    await writeGenerated(file, { environment: DEVELOPMENT, generation: generated(DEVELOPMENT, 300) })
    return readFileSync(file, 'utf8').split('\n')
  }
  const items = (await linesOf('yaml')).slice(-301).map((line) => line.replace('      - ', ''))
  expect(await linesOf('ndjson')).toEqual(items)
})

test('reports progress on the way and at the end', async () => {
  const file = join(givenFolder(), 'out.ndjson')
  const counts: number[] = []
  const onProgress = (count: number) => void counts.push(count)
  await writeGenerated(file, { environment: DEVELOPMENT, generation: generated(DEVELOPMENT, 2000) }, { onProgress })
  expect(counts.length).toBeGreaterThan(5)
  expect(counts).toEqual([...counts].sort((one, other) => one - other))
  expect(counts.at(-1)).toBe(2000)
})

describe('a file that was there before', () => {
  function givenFile(): { folder: string; file: string } {
    const folder = givenFolder()
    const file = join(folder, 'out.ndjson')
    writeFileSync(file, 'before')
    return { folder, file }
  }

  function untouched({ folder, file }: { folder: string; file: string }): void {
    expect(readFileSync(file, 'utf8')).toBe('before')
    expect(readdirSync(folder)).toEqual(['out.ndjson'])
  }

  test('is replaced', async () => {
    const { folder, file } = givenFile()
    await writeGenerated(file, { environment: DEVELOPMENT, generation: generated(DEVELOPMENT, 1) })
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ _id: expect.any(String) })
    expect(readdirSync(folder)).toEqual(['out.ndjson'])
  })

  test('is as it was when it is aborted on the way, long before the end', async () => {
    const given = givenFile()
    const stop = new AbortController()
    let last = 0
    const onProgress = (count: number) => {
      last = count
      if (count > 1000) stop.abort(new Error('enough'))
    }
    const made = generated(DEVELOPMENT, 10_000_000)
    const options = { signal: stop.signal, onProgress }
    const writing = writeGenerated(given.file, { environment: DEVELOPMENT, generation: made }, options)
    await expect(writing).rejects.toThrow('enough')
    expect(last).toBeLessThan(2000)
    untouched(given)
  })

  test('is as it was when it was aborted before', async () => {
    const given = givenFile()
    const signal = AbortSignal.abort(new Error('never'))
    const made = generated(DEVELOPMENT, 10)
    await expect(
      writeGenerated(given.file, { environment: DEVELOPMENT, generation: made }, { signal })
    ).rejects.toThrow('never')
    untouched(given)
  })

  test('is as it was when the last message has been written, but the abort comes before it is put in place', async () => {
    const given = givenFile()
    const stop = new AbortController()
    const onProgress = (count: number) => void (count === 10 && stop.abort(new Error('late')))
    const made = generated(DEVELOPMENT, 10)
    const options = { signal: stop.signal, onProgress }
    await expect(writeGenerated(given.file, { environment: DEVELOPMENT, generation: made }, options)).rejects.toThrow(
      'late'
    )
    untouched(given)
  })

  test('is as it was when making fails', async () => {
    const given = givenFile()
    const made = generated(DEVELOPMENT, 10)
    const failing = {
      ...made,
      *messages() {
        yield* made.messages()
        throw new Error('failed')
      }
    }
    await expect(writeGenerated(given.file, { environment: DEVELOPMENT, generation: failing }, {})).rejects.toThrow(
      'failed'
    )
    untouched(given)
  })
})

test('rejects with ENOENT when the folder is missing, and leaves nothing behind', async () => {
  const folder = givenFolder()
  const file = join(folder, 'gone', 'out.yaml')
  const made = generated(DEVELOPMENT, 1)
  await expect(writeGenerated(file, { environment: DEVELOPMENT, generation: made })).rejects.toMatchObject({
    code: 'ENOENT'
  })
  expect(readdirSync(folder)).toEqual([])
})
