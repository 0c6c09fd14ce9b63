import type { TSchema } from '@sinclair/typebox'
import { ErrorBody } from '../http/errors.js'
import { Integration } from '../integrations/schemas.js'
import {
  MessageResponse,
  MessagesPage,
  SubscriberResponse,
  WorkflowResponse
} from '../messages/schemas.js'
import { Channel } from '../schema/shared.js'
import { namedSchemas } from '../schema/typebox.js'
import { WorkflowStep } from '../workflow-steps/schemas.js'

/** What `notification-mock/contract` exports, each as a type and as JSON Schema. The build writes that entry. */
export const CONTRACT = {
  Channel,
  ErrorBody,
  Integration,
  MessageResponse,
  MessagesPage,
  SubscriberResponse,
  WorkflowResponse,
  WorkflowStep
}

/** Returns a schema as plain JSON Schema that stands alone: what it refers to is in its `$defs`. */
export function jsonSchemaOf(title: string, schema: TSchema): object {
  const others = namedSchemas(schema).filter((each) => each !== schema)
  const $defs = Object.fromEntries(others.map((each) => [each.$id, each]))
  return JSON.parse(
    JSON.stringify({ title, ...schema, ...(others.length > 0 && { $defs }) }),
    plainKeyword
  )
}

/** Every validator knows what is left. Formats are not checked here either: times may have any form. */
function plainKeyword(key: string, value: unknown): unknown {
  if (key === '$ref') return `#/$defs/${String(value).replace(/#$/, '')}`
  // Not the properties of this name, which are schemas.
  return /^(\$id|format)$/.test(key) && typeof value === 'string' ? undefined : value
}
