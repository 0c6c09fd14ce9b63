import { randomUUID } from 'node:crypto'

/** Of a query; a list of values is repeated as often. */
export type Parameters = Readonly<Record<string, string | number | readonly string[]>>

export function listPath(parameters: Parameters): string {
  const pairs = Object.entries(parameters).flatMap(([name, values]) =>
    [values].flat().map((value) => [name, value])
  )
  const query = pairs.map(([name, value = '']) => `${name}=${encodeURIComponent(value)}`).join('&')
  return `/v1/messages${query && `?${query}`}`
}

export function stepPath(workflowId: string, stepId: string): string {
  return `/v2/workflows/${encodeURIComponent(workflowId)}/steps/${encodeURIComponent(stepId)}`
}

export function setPrimaryPath(id: string): string {
  return `/v1/integrations/${encodeURIComponent(id)}/set-primary`
}

/** Returns an id that no record has: of a time that none is of. */
export function unknownId(): string {
  return `ffffffff${randomUUID().replaceAll('-', '').slice(0, 16)}`
}
