import { isObject } from './schema.js'

const BETWEEN = new Set(['==', '===', '!=', '!==', '<', '<=', '>', '>=', 'in', 'and', 'or', '+', '-', '*', '/', '%'])

/** Returns a condition in JSON Logic as one reads it, such as `subscriber.isOnline == true and payload.seats > 0`. */
export function conditionText(condition: unknown): string {
  if (Array.isArray(condition)) return `[${condition.map(conditionText).join(', ')}]`
  if (!isObject(condition)) return JSON.stringify(condition) ?? ''
  const [[operator, value] = ['', undefined], ...others] = Object.entries(condition)
  if (operator === '' || others.length > 0) return JSON.stringify(condition)
  const operands = Array.isArray(value) ? value : [value]
  if (operator === 'var') return String(operands[0])
  if (operator === '!' && operands.length === 1) return `not ${grouped(operands[0])}`
  if (operator === '<' || operator === '<=') {
    const [low, middle, high] = operands
    if (high !== undefined) return [low, middle, high].map(grouped).join(` ${operator} `)
  }
  if (!BETWEEN.has(operator)) return `${operator}(${operands.map(conditionText).join(', ')})`
  return operands.map(operands.length > 1 ? grouped : conditionText).join(` ${operator} `)
}

/** In parentheses if it is an `and` or `or` within another one. */
function grouped(operand: unknown): string {
  const text = conditionText(operand)
  return isObject(operand) && ('and' in operand || 'or' in operand) ? `(${text})` : text
}
