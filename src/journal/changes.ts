import type { FastifyRequest } from 'fastify'
import { pathOf } from '../http/target.js'
import type { ChangedRecord } from '../schema/shared.js'
import type { Redaction } from './redaction.js'
import type { Change } from './schemas.js'

const ACTIONS: Record<string, string> = {
  POST: 'added',
  PATCH: 'changed',
  PUT: 'set',
  DELETE: 'removed'
}

/** The fields of a control request's response that describe the change. */
interface ControlResponse {
  _id?: unknown
  id?: unknown
  name?: unknown
  subject?: unknown
  channel?: unknown
  /** The parts of the environment that changed when it was reset or a snapshot was restored. */
  parts?: string[]
  /** Whether a seed was added to the existing data or replaced it. */
  mode?: 'merge' | 'replace'
}

/**
 * Describes a control request's change, based on its path, body and response. Redacts secrets in
 * names and ids.
 */
export function describeChange(
  request: FastifyRequest,
  payload: unknown,
  redaction: Redaction
): Pick<Change, 'target' | 'changed'> {
  const response = parseResponse(payload)
  const [resource = '', action] = pathOf(request.url).replace('/_mock/', '').split('/')
  if (resource === 'seed') {
    return {
      changed: [{ kind: 'data', action: response.mode === 'replace' ? 'replaced' : 'added' }]
    }
  }
  const [parameter] = Object.values(request.params as Record<string, string>)
  const target = parameter === undefined ? {} : { target: redaction.redact(parameter) }
  if (response.parts) {
    const changed = response.parts.map((part) => ({ kind: part, action: 'set back' }))
    return { ...target, changed }
  }
  const isAdvance = action === 'advance'
  const listsFields = request.method === 'PATCH' || isAdvance
  const fields = listsFields ? Object.keys(request.body as object) : []
  const record: ChangedRecord = {
    kind: resource.replace(/s$/, ''),
    action: isAdvance ? 'advanced' : (ACTIONS[request.method] ?? request.method),
    ...describeIdentity(response, parameter, redaction),
    ...(fields.length > 0 && { fields })
  }
  return { ...target, changed: [record] }
}

function describeIdentity(
  response: ControlResponse,
  parameter: string | undefined,
  redaction: Redaction
): Pick<ChangedRecord, 'id' | 'name' | 'channel'> {
  const id = response.id ?? response._id ?? parameter
  const name = response.name ?? response.subject
  const { channel } = response
  return {
    ...(typeof id === 'string' && { id: redaction.redact(id) }),
    ...(typeof name === 'string' && name !== id && { name: redaction.redact(name) }),
    ...(typeof channel === 'string' && { channel })
  }
}

/** Returns the parsed response, or an empty object if the response isn't JSON. */
function parseResponse(payload: unknown): ControlResponse {
  if (typeof payload !== 'string') return {}
  try {
    return JSON.parse(payload) ?? {}
  } catch (error) {
    if (error instanceof SyntaxError) return {}
    throw error
  }
}
