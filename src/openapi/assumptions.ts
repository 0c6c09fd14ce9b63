import type { TSchema } from '@sinclair/typebox'
import { type Assumptions, VENDOR_NAMES } from '../domain/assumptions.js'
import type { OperationId } from '../domain/enums.js'
import { Configurations, Credentials } from '../integrations/schemas.js'
import {
  ChannelSettings,
  EMBEDDED_FIELDS,
  MessagesPage,
  SubscriberResponse
} from '../messages/schemas.js'
import { OPERATIONS } from '../operations.js'
import type { Operation } from '../schema/operation.js'
import { freeObject, namedSchemas, strictObject } from '../schema/typebox.js'
import { ControlsMetadata } from '../workflow-steps/schemas.js'

/** An OpenAPI 3.1 document, as far as it is changed after @fastify/swagger has made it. */
export interface OpenApiDocument {
  'x-assumptions': Assumptions
  paths: Record<string, Record<string, DescribedOperation>>
  components: { schemas: Record<string, TSchema> }
}

export interface DescribedOperation {
  operationId: OperationId
  parameters: Parameter[]
  responses: Record<
    string,
    { content: { 'application/json': { schema: TSchema; example?: unknown } } }
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

/** Changes the document of the contract to what an environment with these assumptions accepts and returns. */
export function applyAssumptions(document: OpenApiDocument, assumptions: Assumptions): void {
  const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods))
  const byId = Object.fromEntries(operations.map((operation) => [operation.operationId, operation]))
  const { setIntegrationAsPrimary, listMessages } = byId as Record<OperationId, DescribedOperation>
  const schemaOf = ({ $id = '' }: TSchema): TSchema =>
    present(document.components.schemas[$id], $id)

  // It is no filter then, which a list of words can't say.
  parameterOf(listMessages, 'channel').allowEmptyValue = true
  if (assumptions.envelope === 'data') {
    for (const { id } of OPERATIONS.filter((operation) => operation.enveloped)) {
      const json = present(byId[id]?.responses[200], id).content['application/json']
      json.schema = strictObject({ data: json.schema })
    }
  }
  if (assumptions['vendor-names'] === 'vendor') useVendorNames(document)
  if (assumptions['integration-lookup'] === 'id') {
    const integrationId = parameterOf(setIntegrationAsPrimary, 'integrationId')
    integrationId.schema.pattern = '^[0-9a-fA-F]{24}$'
    integrationId.description = "The integration's `_id`"
  }
  if (assumptions.credentials === 'hidden') {
    Object.assign(schemaOf(Credentials), { properties: {}, description: 'Hidden: always empty' })
    delete schemaOf(Configurations).properties.inboundWebhookSigningKey
  }
  if (assumptions['embedded-subscriber'] === 'ten-fields') keepEmbeddedFields(document)
  if (assumptions['unknown-channel-filter'] === 'empty-page')
    delete parameterOf(listMessages, 'channel').schema.enum
  if (assumptions['malformed-context-key'] === 'empty-page') {
    delete parameterOf(listMessages, 'contextKeys').schema.items.pattern
  }
  if (assumptions['paging-bounds'] === 'lenient') {
    const limit = parameterOf(listMessages, 'limit')
    limit.schema.minimum = 0
    limit.allowEmptyValue = true
  }
  if (assumptions['total-count'] === 'absent') delete schemaOf(MessagesPage).properties.totalCount
  if (assumptions['control-values'] === 'twice') {
    schemaOf(ControlsMetadata).properties.values = freeObject('The same as `controlValues`')
  }
}

/** Takes out the other fields of a subscriber, and what only they refer to. */
function keepEmbeddedFields({ components: { schemas } }: OpenApiDocument): void {
  const subscriber = present(schemas[String(SubscriberResponse.$id)], 'subscriber')
  const fields = Object.entries(subscriber.properties).filter(([name]) =>
    EMBEDDED_FIELDS.includes(name)
  )
  subscriber.properties = Object.fromEntries(fields)
  for (const { $id = '' } of namedSchemas(ChannelSettings)) delete schemas[$id]
}

function parameterOf({ parameters }: DescribedOperation, name: string): Parameter {
  const found = parameters.find((each) => each.name === name)
  return present(found, name)
}

function present<Part>(part: Part | undefined, name: string): Part {
  if (part === undefined) throw new Error(`the document has no ${name}`)
  return part
}

function useVendorNames(node: unknown): void {
  if (typeof node !== 'object' || node === null) return
  const values = (node as { enum?: unknown }).enum
  if (Array.isArray(values)) {
    for (const [index, value] of values.entries()) values[index] = VENDOR_NAMES[value] ?? value
  }
  for (const inner of Object.values(node)) useVendorNames(inner)
}

/** The answers to the operations' examples by status, each with the assumptions that it depends on: see `npm run docs`. */
export type Examples = Record<
  OperationId,
  Record<string, { under: Partial<Assumptions>; body: unknown }[]>
>

/** Adds the examples of the operations: what is accepted, and what is answered to it under the document's assumptions. */
export function addExamples(document: OpenApiDocument, examples: Examples): void {
  const assumptions: Record<string, string> = document['x-assumptions']
  for (const operation of Object.values(document.paths).flatMap((methods) =>
    Object.values(methods)
  )) {
    const { operationId, parameters, responses, 'x-examples': requests } = operation
    const { params = {}, query = {}, idempotencyKey } = requests ?? {}
    delete operation['x-examples']
    for (const parameter of parameters) {
      const { name, schema } = parameter
      if (name in params) parameter.example = params[name]
      // In the schema: the page would fill in an example of the parameter itself, and so filter unasked.
      else if (name in query) schema.examples = [query[name]]
      else if (name === 'idempotency-key') schema.examples = [idempotencyKey]
    }
    for (const [status, { content }] of Object.entries(responses)) {
      const answers = examples[operationId][status] ?? []
      const answer = answers.find(({ under }) =>
        Object.entries(under).every(([id, at]) => assumptions[id] === at)
      )
      content['application/json'].example = answer?.body
    }
  }
}
