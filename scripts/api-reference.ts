/**
 * Renders the API reference of the three operations as Markdown. docs.ts writes it to docs/api.md.
 */
import type { TSchema } from '@sinclair/typebox'
import { type AssumptionId, assume } from '../src/domain/assumptions.js'
import type { DescribedOperation } from '../src/openapi/apply-assumptions.js'
import {
  describeLimits,
  describeType,
  describeValues,
  type TypeFormat,
  typeNameOf
} from '../src/openapi/describe-type.js'
import { openApiDocument } from '../src/openapi/documents.js'
import { describeError } from '../src/openapi/route-schemas.js'
import { OPERATIONS } from '../src/operations.js'
import type { Operation } from '../src/schema/operation.js'

type Parameter = DescribedOperation['parameters'][number] & { required?: boolean }

/** Returns a section for each operation and each type, as they are in the profile `document`. */
export async function apiReference(): Promise<string> {
  const { paths, components } = await openApiDocument(assume('document'))
  const described = Object.values(paths).flatMap((methods) => Object.values(methods))
  const operations = OPERATIONS.map((operation) => {
    const description = described.find(({ operationId }) => operationId === operation.id)
    if (!description) throw new Error(`the OpenAPI document has no operation ${operation.id}`)
    return operationSection(operation, description)
  })
  const types = Object.entries(components.schemas).map(([name, schema]) =>
    typeSection(name, schema, components.schemas)
  )
  return `\n## Operations\n\n${operations.join('\n')}\n## Types\n\n${types.join('\n')}`
}

function operationSection(operation: Operation, described: DescribedOperation): string {
  const { method, url, summary, description = '' } = operation
  const path = url.replace(/:(\w+)/g, '{$1}')
  const parameters = described.parameters as Parameter[]
  const body = described.responses[200]?.content['application/json'].schema
  return [
    `### ${summary}\n`,
    `\`${method} ${path}\` (\`operationId\` \`${operation.id}\`)\n`,
    `${description}\n`,
    table(['parameter', 'in', 'type', 'description'], parameters.map(parameterRow)),
    `Returns 200 with ${article(body ? typeOf(body) : 'nothing')}.\n`,
    table(['error', 'when', 'assumption'], errorRows(operation))
  ].join('\n')
}

function parameterRow(parameter: Parameter): string[] {
  const { name, schema, description, required } = parameter
  const limits = [...(required ? ['required'] : []), ...describeLimits(schema)]
  const type = typeOf(schema)
  return [`\`${name}\``, parameter.in, [type, ...limits].join(', '), description]
}

function errorRows(operation: Operation): string[][] {
  const rows = operation.errors.map(({ status, code, under }) => [
    String(status),
    code === 'key-reused'
      ? 'The idempotency key was used for another request'
      : describeError(status, { idempotent: false }),
    under ? assumptionLink(...under) : ''
  ])
  // Error codes with the same status and description share one row.
  const unique = new Map(rows.map((row) => [row.join(), row]))
  return [...unique.values(), ['500', describeError(500, operation), '']]
}

function assumptionLink(id: AssumptionId, value: string): string {
  return `[\`${id}\`](assumptions.md) is \`${value}\``
}

function typeSection(name: string, schema: TSchema, types: Record<string, TSchema>): string {
  const fields = Object.entries<TSchema>(schema.properties ?? {})
  const parts = [`### ${name}\n`]
  if (schema.description) parts.push(`${schema.description}.\n`)
  if (schema.enum) parts.push(`One of ${describeValues(schema.enum, MARKDOWN)}.\n`)
  if (schema.anyOf) parts.push(`${schema.anyOf.map(typeOf).join(' or ')}.\n`)
  if (fields.length > 0) {
    const rows = fields.map(([field, type]) => {
      const description = type.description ?? types[typeNameOf(type)]?.description ?? ''
      return fieldRow(field, type, description, schema.required ?? [])
    })
    parts.push(table(['field', 'type', 'required', 'description'], rows))
  }
  return parts.join('\n')
}

function fieldRow(
  name: string,
  schema: TSchema,
  description: string,
  required: string[]
): string[] {
  const type = typeOf(schema)
  return [`\`${name}\``, type, required.includes(name) ? 'yes' : '', description]
}

/** Named types are links to their sections. */
const MARKDOWN: TypeFormat = {
  code: (text) => `\`${text}\``,
  link: (name) => `[${name}](#${name.toLowerCase()})`
}

const typeOf = (schema: TSchema) => describeType(schema, MARKDOWN)

const article = (type: string) => (/^\[?[aeiou]/i.test(type) ? `an ${type}` : `a ${type}`)

function table(head: string[], rows: string[][]): string {
  const escaped = (cell: string) => cell.replaceAll('|', '\\|').replaceAll('<', '&lt;')
  const line = (cells: string[]) => `| ${cells.map(escaped).join(' | ')} |\n`
  return `${line(head)}|${'---|'.repeat(head.length)}\n${rows.map(line).join('')}`
}
