import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

const require = createRequire(import.meta.url)

/** What `redocly lint` says of each document, under the rules of redocly.yaml beside this file. It calls nobody. */
export async function redoclyComplaints(documents: readonly object[]): Promise<string[][]> {
  const folder = mkdtempSync(join(tmpdir(), 'openapi-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const files = documents.map((document, index) => {
    const file = join(folder, `${index}.json`)
    writeFileSync(file, JSON.stringify(document, null, 2))
    return file
  })
  const args = ['lint', ...files, '--config', join(import.meta.dirname, 'redocly.yaml'), '--format', 'json']
  const output = await outputOf(require.resolve('@redocly/cli/bin/cli.js'), args)
  // One object for each document, with nothing in between.
  const reports: Report[] = JSON.parse(`[${output.replaceAll('\n}{', '\n},{')}]`)
  return reports.map(({ problems }) => problems.map(({ ruleId, message }) => `${ruleId}: ${message}`))
}

interface Report {
  problems: { ruleId: string; message: string }[]
}

function outputOf(script: string, args: string[]): Promise<string> {
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [script, ...args], { env, maxBuffer: 1e8 }, (error, stdout, stderr) => {
      // It leaves with 1 when it has a complaint, and with a report all the same.
      if (error && !stdout.startsWith('{')) reject(new Error(stderr, { cause: error }))
      else resolve(stdout)
    })
  })
}
