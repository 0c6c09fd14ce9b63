import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { assume, PROFILES } from '../../src/domain/assumptions.js'
import { controlDocument, openApiDocument } from '../../src/openapi/documents.js'
import { createTempFolder } from '../support/process.js'

// biome-ignore lint/suspicious/noExplicitAny: the test breaks a document in several places
type Document = any

test('redocly reports nothing except missing descriptions of control routes', async () => {
  const [valid, live] = await Promise.all(
    PROFILES.map(
      async (profile): Promise<Document> => plain(await openApiDocument(assume(profile)))
    )
  )
  const broken = structuredClone(valid)
  delete broken.paths['/v1/messages'].get.operationId
  const { get } = broken.paths['/v2/workflows/{workflowId}/steps/{stepId}']
  get.responses[404].content['application/json'].example.statusCode = 'four'
  broken.components.schemas.Renamed = broken.components.schemas.StepIssuesDto
  delete broken.components.schemas.StepIssuesDto
  const rules = [
    'operation-operationId',
    'no-invalid-media-type-examples',
    'no-unresolved-refs',
    'no-unused-components'
  ]
  const control = plain(await controlDocument())
  const [inValid, inLive, inControl, inBroken] = await redoclyProblems([
    valid,
    live,
    control,
    broken
  ])
  expect([inValid, inLive]).toEqual([[], []])
  // Control routes with a clear summary need no description.
  expect(inControl?.filter((rule) => rule !== 'operation-description')).toEqual([])
  expect(inBroken).toEqual(expect.arrayContaining(rules))
})

/** Runs `redocly lint` offline with redocly.yaml. Returns the rules that each document violates. */
async function redoclyProblems(documents: readonly object[]): Promise<string[][]> {
  const files = documents.map(() => join(createTempFolder(), 'openapi.json'))
  for (const [index, file] of files.entries())
    writeFileSync(file, JSON.stringify(documents[index], null, 2))
  const script = 'node_modules/@redocly/cli/bin/cli.js'
  const config = ['--config', join(import.meta.dirname, 'redocly.yaml'), '--format', 'json']
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }
  const run = promisify(execFile)(process.execPath, [script, 'lint', ...files, ...config], {
    env,
    maxBuffer: 1e8
  })
  // If redocly finds a problem, it exits with code 1, but still prints its report.
  const { stdout }: { stdout: string } = await run.catch((error) => error)
  // redocly prints one JSON object per document, without commas between them.
  const reports: { problems: { ruleId: string }[] }[] = JSON.parse(
    `[${stdout.replaceAll('\n}{', '\n},{')}]`
  )
  return reports.map(({ problems }) => problems.map(({ ruleId }) => ruleId))
}

/** Returns the document as a server sends it. */
const plain = (document: object) => JSON.parse(JSON.stringify(document))
