import type { Assumptions } from '../domain/assumptions.js'
import type { OperationId } from '../domain/enums.js'
import type { DescribedOperation, OpenApiDocument } from './apply-assumptions.js'

/**
 * The recorded responses for each operation and status. A document shows a response as an example
 * if its assumptions have the values in `under`. `npm run docs` records the responses.
 */
export type Examples = Record<
  OperationId,
  Record<string, { under: Partial<Assumptions>; body: unknown }[]>
>

/** Adds the example requests, and the example responses that match the document's assumptions. */
export function addExamples(document: OpenApiDocument, examples: Examples): void {
  const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods))
  for (const operation of operations) {
    addRequestExamples(operation)
    addResponseExamples(operation, examples, document['x-assumptions'])
  }
}

function addRequestExamples(operation: DescribedOperation): void {
  const { params = {}, query = {}, idempotencyKey } = operation['x-examples'] ?? {}
  delete operation['x-examples']
  for (const parameter of operation.parameters) {
    const { name, schema } = parameter
    if (name in params) parameter.example = params[name]
    // Put this example into the schema, because Swagger UI sends the parameter's own `example` by
    // default.
    else if (name in query) schema.examples = [query[name]]
    else if (name === 'idempotency-key') schema.examples = [idempotencyKey]
  }
}

function addResponseExamples(
  { operationId, responses }: DescribedOperation,
  examples: Examples,
  assumptions: Record<string, string>
): void {
  for (const [status, { content }] of Object.entries(responses)) {
    const candidates = examples[operationId][status] ?? []
    const example = candidates.find(({ under }) =>
      Object.entries(under).every(([id, value]) => assumptions[id] === value)
    )
    content['application/json'].example = example?.body
  }
}
