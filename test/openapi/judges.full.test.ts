import { expect, test } from 'vitest'
import { assume } from '../../src/core/assumptions.js'
import { openApiDocument } from '../../src/openapi/documents.js'
import { redoclyComplaints, validatorComplaints } from './judges.js'

// biome-ignore lint/suspicious/noExplicitAny: tests spoil it
type Document = any

const MESSAGES = '/v1/messages'
const STEP = '/v2/workflows/{workflowId}/steps/{stepId}'

const SPOILT: [what: string, spoil: (document: Document) => void, redocly: RegExp][] = [
  ['a response without a description', (d) => delete d.paths[MESSAGES].get.responses[200].description, /struct/],
  ['a parameter in the body', (d) => Object.assign(d.paths[MESSAGES].get.parameters[0], { in: 'body' }), /struct/],
  ['a path without its slash', (d) => Object.assign(d.paths, { 'v3/x': {} }), /struct|path/]
]

test('redocly and the schema of OpenAPI 3.1 find what is wrong with a document', async () => {
  const sound = await document()
  const spoilt = SPOILT.map(([, spoil]) => changed(sound, spoil))
  const complaints = await redoclyComplaints(spoilt)
  for (const [index, [what, , redocly]] of SPOILT.entries()) {
    expect(complaints[index]?.join('\n'), what).toMatch(redocly)
    expect(await validatorComplaints(spoilt[index]), what).not.toEqual([])
  }
})

test('redocly finds what is valid but against its rules', async () => {
  const sound = await document()
  const complaints = await redoclyComplaints([
    changed(sound, (d) => delete d.paths[MESSAGES].get.operationId),
    changed(sound, (d) => delete d.paths[MESSAGES].get.security),
    changed(sound, (d) => delete d.info.license),
    changed(sound, (d) => Object.assign(d.paths[STEP].get.parameters[0].schema, { type: 'text' })),
    changed(sound, (d) => Object.assign(d.components.schemas, { Unused: { type: 'string' } })),
    changed(sound, (d) => Object.assign(d.components.schemas.Integration.properties.active, { examples: ['yes'] }))
  ])
  expect(complaints.map((each) => each[0])).toEqual([
    expect.stringContaining('operation-operationId'),
    expect.stringContaining('security-defined'),
    expect.stringContaining('info-license'),
    expect.stringContaining('struct'),
    expect.stringContaining('no-unused-components'),
    expect.stringContaining('no-invalid-schema-examples')
  ])
})

async function document(): Promise<Document> {
  return JSON.parse(JSON.stringify(await openApiDocument(assume('document', {}))))
}

function changed(document: Document, change: (document: Document) => void): Document {
  const copy = structuredClone(document)
  change(copy)
  return copy
}
