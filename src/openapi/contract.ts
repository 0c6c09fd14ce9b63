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

/**
 * The exports of `notification-mock/contract`: the build writes each as a TypeScript type and as a
 * JSON Schema.
 */
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

/**
 * Returns a schema as self-contained JSON Schema: the schemas that it refers to are in its `$defs`.
 */
export function jsonSchemaOf(title: string, schema: TSchema): object {
  const referenced = namedSchemas(schema).filter((named) => named !== schema)
  const $defs = Object.fromEntries(referenced.map((named) => [named.$id, named]))
  const whole = { title, ...schema, ...(referenced.length > 0 && { $defs }) }
  return JSON.parse(JSON.stringify(whole), toPlainKeyword)
}

/**
 * Keeps only keywords that every validator knows. `format` goes too: the API reference allows any
 * timestamp format.
 */
function toPlainKeyword(key: string, value: unknown): unknown {
  if (key === '$ref') return `#/$defs/${String(value).replace(/#$/, '')}`
  // Only as keywords: a property named `format` holds a schema, not a string.
  const isDropped = (key === '$id' || key === 'format') && typeof value === 'string'
  return isDropped ? undefined : value
}
