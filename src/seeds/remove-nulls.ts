import { isObject } from '../schema/validation.js'

/**
 * Removes `content: null` from messages and `placeholder: null` from steps. Novu sends these nulls
 * although its API reference doesn't allow them, and a seed may be a copy of Novu's responses.
 */
export function removeNulls(environment: unknown): void {
  const { messages, workflows } = fieldsOf(environment)
  for (const message of objectsIn(messages)) {
    if (message.content === null) delete message.content
  }
  for (const { steps } of objectsIn(workflows)) {
    for (const { controls } of objectsIn(steps)) removeNullPlaceholders(fieldsOf(controls).uiSchema)
  }
}

function removeNullPlaceholders(node: unknown): void {
  if (typeof node !== 'object' || node === null) return
  for (const [name, value] of Object.entries(node)) {
    if (name === 'placeholder' && value === null) Reflect.deleteProperty(node, name)
    else removeNullPlaceholders(value)
  }
}

const fieldsOf = (value: unknown): Record<string, unknown> => (isObject(value) ? value : {})

const objectsIn = (value: unknown): Record<string, unknown>[] =>
  Array.isArray(value) ? value.filter(isObject) : []
