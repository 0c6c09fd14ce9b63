import { lstatSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { inflateRawSync } from 'node:zlib'
import { expect, test } from 'vitest'
import type { Report } from '../src/client/index.js'
import { createMock } from '../src/index.js'
import { createTempFolder } from './support/process.js'

/** Returns the data of a report, and the HTML without the data. */
function read(file: string): { data: Report; page: string } {
  const text = readFileSync(file, 'utf8')
  const [whole = '', content = ''] =
    /<script id="report"[^>]*data-encoding="deflate-raw">([^<]*)<\/script>/.exec(text) ?? []
  const json = inflateRawSync(Buffer.from(content, 'base64')).toString()
  return { data: JSON.parse(json), page: text.replace(whole, '') }
}

test('a report is one file with data and hints, and only its owner can read the file', async () => {
  await using mock = await createMock()
  const file = join(createTempFolder(), 'run.html')
  writeFileSync(file, 'of an earlier run', { mode: 0o644 })
  const env = await mock.environment({ from: 'Development' })
  await env.describeTest({ title: '</script><script>alert(1)</script> $& $1', outcome: 'failed' })
  await fetch(`${env.url}/v1/messages?chanel=%3C/script%3E`, { headers: env.headers })
  await env.remove()
  await fetch(`${mock.url}/v1/subscribers`, {
    headers: { authorization: 'ApiKey development-key' }
  })
  const returned = await mock.report(file, { command: 'npm test', exitCode: 1 })
  const { data, page } = read(file)
  expect(data).toEqual(JSON.parse(JSON.stringify(returned)))
  expect(data.run).toMatchObject({ command: 'npm test', exitCode: 1 })
  expect(data.tests).toMatchObject([
    {
      title: '</script><script>alert(1)</script> $& $1',
      hints: [{ id: 'unknown-parameter', requests: [1] }]
    }
  ])
  expect(data.hints).toMatchObject([{ id: 'path-not-mocked', environment: 'Development' }])
  expect(page).not.toContain('alert(1)')
  expect(page).toContain("default-src 'none'; script-src 'sha256-")
  expect(lstatSync(file).mode & 0o777).toBe(0o600)
  expect(readdirSync(join(file, '..'))).toEqual(['run.html'])
})

test("rejects a symbolic link as the report file, and doesn't change its target", async () => {
  await using mock = await createMock()
  const folder = createTempFolder()
  writeFileSync(join(folder, 'other.txt'), 'other')
  symlinkSync('other.txt', join(folder, 'run.html'))
  await expect(mock.report(join(folder, 'run.html'))).rejects.toThrow('is not a regular file')
  expect(readFileSync(join(folder, 'other.txt'), 'utf8')).toBe('other')
})
