import { randomUUID } from 'node:crypto'

/** Query parameters by name. A parameter with a list of values is repeated for each value. */
export type Parameters = Readonly<Record<string, string | number | readonly string[]>>

export function listPath(parameters: Parameters): string {
  const pairs = Object.entries(parameters).flatMap(([name, values]) =>
    [values].flat().map((value) => [name, value])
  )
  const query = pairs.map(([name, value = '']) => `${name}=${encodeURIComponent(value)}`).join('&')
  return query ? `/v1/messages?${query}` : '/v1/messages'
}

export function stepPath(workflowId: string, stepId: string): string {
  return `/v2/workflows/${encodeURIComponent(workflowId)}/steps/${encodeURIComponent(stepId)}`
}

export function setPrimaryPath(id: string): string {
  return `/v1/integrations/${encodeURIComponent(id)}/set-primary`
}

/** Returns a new id that no record has. It starts with the latest possible timestamp. */
export function unknownId(): string {
  return `ffffffff${randomUUID().replaceAll('-', '').slice(0, 16)}`
}
