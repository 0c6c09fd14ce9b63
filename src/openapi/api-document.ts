import type { TSchema } from '@sinclair/typebox'

/** The parts of an OpenAPI 3.1 document that the pages at `/docs` show. */
export interface ApiDocument {
  info: { version: string; description: string }
  paths: Record<string, Record<string, DocumentedRoute>>
  components: { schemas: Record<string, TSchema> }
}

/** An operation or a control route. */
export interface DocumentedRoute {
  operationId: string
  summary: string
  description?: string
  tags: readonly string[]
  parameters?: readonly DocumentedParameter[]
  requestBody?: { content: BodyContent }
  responses: Record<string, { description: string; content?: BodyContent }>
}

export interface DocumentedParameter {
  name: string
  in: string
  description?: string
  required?: boolean
  schema: TSchema
}

/** The schema and the example of a body, by media type. */
export type BodyContent = Record<string, { schema: TSchema; example?: unknown }>
