import type { TSchema } from '@sinclair/typebox'
import type { Assumptions } from '../core/assumptions.js'

/** An OpenAPI 3.1 document, as far as it is changed after @fastify/swagger has made it. */
export interface OpenApiDocument {
  /** What the document is true of. */
  'x-assumptions': Assumptions
  paths: Record<string, Record<string, DescribedOperation>>
  components: { schemas: Record<string, TSchema> }
}

interface DescribedOperation {
  operationId: string
  parameters: { name: string; in: string; schema: TSchema; [field: string]: unknown }[]
  responses: Record<string, { content: { 'application/json': { schema: TSchema; example?: unknown } } }>
}

/** The document's own copy of a named schema. */
export function schemaIn({ components }: OpenApiDocument, { $id = '' }: TSchema): TSchema {
  return found(components.schemas[$id], $id)
}

export function operationIn({ paths }: OpenApiDocument, operationId: string): DescribedOperation {
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods))
  return found(
    operations.find((each) => each.operationId === operationId),
    operationId
  )
}

export function parameterIn(document: OpenApiDocument, operationId: string, name: string): TSchema {
  const { parameters } = operationIn(document, operationId)
  return found(parameters.find((each) => each.name === name)?.schema, name)
}

function found<Part>(part: Part | undefined, name: string): Part {
  if (part === undefined) throw new Error(`the document has no ${name}`)
  return part
}
