import type { TSchema } from '@sinclair/typebox'
import { ErrorBody, StepErrorBody, ValidationErrorBody, WorkflowErrorBody } from '../http/errors.js'
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
 * The schemas that `notification-mock/contract` exports. The build writes each schema as a
 * TypeScript type and as a JSON Schema.
 */
export const CONTRACT = {
  Channel,
  ErrorBody,
  Integration,
  MessageResponse,
  MessagesPage,
  StepErrorBody,
  SubscriberResponse,
  ValidationErrorBody,
  WorkflowErrorBody,
  WorkflowResponse,
  WorkflowStep
}

/** Returns a self-contained JSON Schema. Its `$defs` contain all schemas that it refers to. */
export function jsonSchemaOf(title: string, schema: TSchema): object {
  const referenced = namedSchemas(schema).filter((named) => named !== schema)
  const $defs = Object.fromEntries(referenced.map((named) => [named.$id, named]))
  const whole = { title, ...schema, ...(referenced.length > 0 && { $defs }) }
  return JSON.parse(JSON.stringify(whole), toPlainKeyword)
}

/**
 * Makes each `$ref` point into `$defs`, and removes `$id`. Also removes `format`, because the API
 * reference allows any timestamp format.
 */
function toPlainKeyword(key: string, value: unknown): unknown {
  if (key === '$ref') return `#/$defs/${String(value).replace(/#$/, '')}`
  // Keep a property that is named `format`. Its value is a schema, whereas the value of the keyword
  // `format` is a string.
  const isDropped = (key === '$id' || key === 'format') && typeof value === 'string'
  return isDropped ? undefined : value
}
