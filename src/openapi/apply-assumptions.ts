import type { TSchema } from '@sinclair/typebox'
import { type Assumptions, VENDOR_NAMES } from '../domain/assumptions.js'
import type { OperationId } from '../domain/enums.js'
import { Configurations, Credentials } from '../integrations/schemas.js'
import {
  ChannelSettings,
  EMBEDDED_FIELDS,
  MESSAGE_EXTRAS,
  MessageResponse,
  MessagesPage,
  SubscriberResponse
} from '../messages/schemas.js'
import { OPERATIONS } from '../operations.js'
import type { Operation } from '../schema/operation.js'
import { freeObject, namedSchemas, strictObject } from '../schema/typebox.js'
import { ControlsMetadata } from '../workflow-steps/schemas.js'
import type { ApiDocument, DocumentedRoute } from './api-document.js'

/** The OpenAPI 3.1 document of the operations. */
export interface OpenApiDocument extends ApiDocument {
  'x-assumptions': Assumptions
  paths: Record<string, Record<string, DescribedOperation>>
}

export interface DescribedOperation extends DocumentedRoute {
  operationId: OperationId
  parameters: Parameter[]
  responses: Record<
    string,
    {
      description: string
      content: { 'application/json': { schema: TSchema; example?: unknown } }
    }
  >
  'x-examples'?: Operation['examples']
}

interface Parameter {
  name: string
  description: string
  in: string
  schema: TSchema
  example?: unknown
  allowEmptyValue?: boolean
}

/**
 * Changes the document's schemas and parameters, which follow the API reference, so that they
 * describe what an environment with these assumptions accepts and returns.
 */
export function applyAssumptions(document: OpenApiDocument, assumptions: Assumptions): void {
  allowEmptyFilters(document)
  applyToResponses(document, assumptions)
  applyToSetPrimary(document, assumptions)
  applyToMessageQuery(document, assumptions)
}

/** Allows empty values, such as `channel=`, for filters with an enum. Empty values are ignored. */
function allowEmptyFilters(document: OpenApiDocument): void {
  for (const { operationId, parameters } of operationsOf(document)) {
    if (operationId !== 'listMessages') continue
    for (const parameter of parameters) {
      if (parameter.schema.enum) parameter.allowEmptyValue = true
    }
  }
}

function applyToResponses(document: OpenApiDocument, assumptions: Assumptions): void {
  if (assumptions.envelope === 'data') wrapSingleObjects(document)
  if (assumptions['vendor-names'] === 'vendor') useVendorNames(document)
  if (assumptions.credentials === 'hidden') {
    const hidden = { properties: {}, description: 'Always empty, because credentials are hidden' }
    Object.assign(schemaOf(document, Credentials), hidden)
    delete schemaOf(document, Configurations).properties.inboundWebhookSigningKey
  }
  if (assumptions['embedded-subscriber'] === 'ten-fields') keepEmbeddedFields(document)
  if (assumptions['message-extras'] === 'present') {
    Object.assign(schemaOf(document, MessageResponse).properties, MESSAGE_EXTRAS)
  }
  if (assumptions['total-count'] === 'absent') {
    delete schemaOf(document, MessagesPage).properties.totalCount
  }
  if (assumptions['control-values'] === 'twice') {
    const { properties } = schemaOf(document, ControlsMetadata)
    properties.values = freeObject('The same as `controlValues`')
  }
}

function applyToSetPrimary(document: OpenApiDocument, assumptions: Assumptions): void {
  if (assumptions['integration-lookup'] !== 'id') return
  const integrationId = parameterOf(document, 'setIntegrationAsPrimary', 'integrationId')
  integrationId.schema.pattern = '^[0-9a-fA-F]{24}$'
  integrationId.description = "The integration's `_id`"
}

function applyToMessageQuery(document: OpenApiDocument, assumptions: Assumptions): void {
  const parameter = (name: string) => parameterOf(document, 'listMessages', name)
  if (assumptions['unknown-channel-filter'] === 'empty-page') {
    delete parameter('channel').schema.enum
  }
  if (assumptions['malformed-context-key'] === 'empty-page') {
    delete parameter('contextKeys').schema.items.pattern
  }
  if (assumptions['paging-bounds'] === 'lenient') {
    parameter('limit').schema.minimum = 0
    parameter('limit').allowEmptyValue = true
  }
}

/**
 * For each operation that returns a single object, wraps the response schema in a `data` object.
 */
function wrapSingleObjects(document: OpenApiDocument): void {
  const ids: string[] = OPERATIONS.filter(({ enveloped }) => enveloped).map(({ id }) => id)
  for (const { operationId, responses } of operationsOf(document)) {
    const json = responses[200]?.content['application/json']
    if (json && ids.includes(operationId)) json.schema = strictObject({ data: json.schema })
  }
}

/**
 * Removes the subscriber fields that messages don't embed, and the schemas that only these fields
 * use.
 */
function keepEmbeddedFields(document: OpenApiDocument): void {
  const subscriber = schemaOf(document, SubscriberResponse)
  const fields = Object.entries(subscriber.properties).filter(([name]) =>
    EMBEDDED_FIELDS.includes(name)
  )
  subscriber.properties = Object.fromEntries(fields)
  const { schemas } = document.components
  for (const { $id = '' } of namedSchemas(ChannelSettings)) delete schemas[$id]
}

function operationsOf({ paths }: OpenApiDocument): DescribedOperation[] {
  return Object.values(paths).flatMap((methods) => Object.values(methods))
}

function parameterOf(document: OpenApiDocument, id: OperationId, name: string): Parameter {
  const operation = operationsOf(document).find(({ operationId }) => operationId === id)
  const parameter = operation?.parameters.find((candidate) => candidate.name === name)
  if (!parameter) throw new Error(`the document has no parameter ${name} for ${id}`)
  return parameter
}

function schemaOf({ components }: OpenApiDocument, { $id = '' }: TSchema): TSchema {
  const schema = components.schemas[$id]
  if (!schema) throw new Error(`the document has no schema ${$id}`)
  return schema
}

/**
 * Replaces the API reference's names in every enum below `node` with the names that Novu actually
 * uses.
 */
function useVendorNames(node: unknown): void {
  if (typeof node !== 'object' || node === null) return
  const values = (node as { enum?: unknown }).enum
  if (Array.isArray(values)) {
    for (const [index, value] of values.entries()) values[index] = VENDOR_NAMES[value] ?? value
  }
  for (const inner of Object.values(node)) useVendorNames(inner)
}
