import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Validator } from '@seriousme/openapi-schema-validator'
import type { AnySchemaObject } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { fullFormats } from 'ajv-formats/dist/formats.js'
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

/** What the OpenAPI initiative's own schema of a document says of it. */
export async function validatorComplaints(document: object): Promise<string[]> {
  const { valid, errors = [] } = await new Validator().validate(structuredClone(document) as Record<string, unknown>)
  if (valid) return []
  return [errors].flat().map((error) => JSON.stringify(error))
}

/** References that lead nowhere. */
export function danglingReferences(document: object): string[] {
  return referencesIn(document).filter((reference) => partAt(document, reference) === undefined)
}

/** Named schemas that no operation leads to. */
export function unusedSchemas(document: { paths: object; components: { schemas: object } }): string[] {
  const used = new Set<string>()
  const pending = referencesIn(document.paths)
  for (let reference = pending.pop(); reference !== undefined; reference = pending.pop()) {
    if (used.has(reference)) continue
    used.add(reference)
    pending.push(...referencesIn(partAt(document, reference)))
  }
  return Object.keys(document.components.schemas).filter((name) => !used.has(`#/components/schemas/${name}`))
}

/** Examples, wherever they stand, that their own schema refuses; and how many there are in all. */
export function judgeExamples(document: object): { count: number; refused: string[] } {
  const ajv = new Ajv2020({ strict: false, allErrors: true, formats: { ...fullFormats, regex: true } })
  ajv.addSchema(document as AnySchemaObject, 'openapi')
  const examples = [...examplesIn(document, '')]
  const refused = examples.flatMap(({ schema, at, value }) => {
    const validate = ajv.compile({ $ref: `openapi#${schema}` })
    return validate(value) ? [] : [`${at}: ${ajv.errorsText(validate.errors)}`]
  })
  return { count: examples.length, refused }
}

interface Example {
  /** Where its schema is. */
  schema: string
  at: string
  value: unknown
}

function* examplesIn(node: unknown, at: string): Generator<Example> {
  if (typeof node !== 'object' || node === null) return
  for (const [name, inner] of Object.entries(node)) {
    const place = `${at}/${token(name)}`
    if (name === 'example') yield { schema: `${at}/schema`, at: place, value: inner }
    else if (name === 'examples' && Array.isArray(inner)) {
      for (const value of inner) yield { schema: at, at: place, value }
    } else yield* examplesIn(inner, place)
  }
}

function referencesIn(node: unknown): string[] {
  if (typeof node !== 'object' || node === null) return []
  return Object.entries(node).flatMap(([name, inner]) =>
    name === '$ref' && typeof inner === 'string' ? [inner] : referencesIn(inner)
  )
}

function partAt(document: unknown, reference: string): unknown {
  const names = reference.replace(/^#\//, '').split('/')
  return names.reduce(
    (part, name) => (part as Record<string, unknown> | undefined)?.[name.replaceAll('~1', '/').replaceAll('~0', '~')],
    document
  )
}

function token(text: string): string {
  return encodeURIComponent(text.replaceAll('~', '~0').replaceAll('/', '~1'))
}
