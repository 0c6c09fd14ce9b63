import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { givenMock } from '../support/mock.js'

test('the document passes the lint of Redocly', async () => {
  const mock = await givenMock()
  const folder = mkdtempSync(join(tmpdir(), 'control-document-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'openapi.json')
  writeFileSync(file, (await mock.get('/_mock/openapi.json')).text)
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true', CI: '1' }
  const lint = ['node_modules/@redocly/cli/bin/cli.js', 'lint', file, '--extends=recommended', '--format=json']
  const { stdout } = await promisify(execFile)(process.execPath, lint, { env }).catch((error) => error)
  const { totals, problems } = JSON.parse(stdout)
  expect(totals.errors, JSON.stringify(problems, null, 1)).toBe(0)
})
