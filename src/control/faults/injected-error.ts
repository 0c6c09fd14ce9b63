import { STATUS_CODES } from 'node:http'
import { type ErrorResponse, ResponseError, SERVER_ERROR } from '../../http/errors.js'
import type { FaultEffect } from './schemas.js'

const MESSAGES: Record<number, string> = { 429: 'API rate limit exceeded', 500: SERVER_ERROR }

/** What the deployed service sends with a 429, with figures of ours. */
const RATE_LIMITED = {
  'ratelimit-limit': '60',
  'ratelimit-remaining': '0',
  'ratelimit-reset': '1',
  'ratelimit-policy': '60;w=1;burst=66;comment="token bucket";category="global";cost="single";serviceLevel="free"'
}

/** Returns the error of a fault. Words and headers are those of the deployed service, where they are known. */
export function injectedError(
  { id, effect }: { id: string; effect: FaultEffect },
  status: number,
  uuid: () => string
): ResponseError {
  const { headers = {}, body } = effect
  const sent = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
  const response: ErrorResponse = {
    status,
    message: MESSAGES[status] ?? STATUS_CODES[status] ?? 'Error',
    reason: `injected by ${id === 'header' ? 'the header x-mock-fault' : `${id}, see GET /_mock/faults`}`,
    headers: { ...(status === 429 && RATE_LIMITED), ...sent },
    ...(body !== undefined && { body }),
    ...(status === 422 && { errors: {} }),
    ...(status === 500 && { errorId: uuid() })
  }
  return new ResponseError(response)
}
