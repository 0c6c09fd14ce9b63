import {
  ASSUMPTION_IDS,
  type AssumptionId,
  type Assumptions,
  assume,
  overridesOf,
  PROFILES,
  type Profile
} from '../core/assumptions.js'
import { VENDOR_NAMES } from '../core/vendor-names.js'
import { isObject, notAnObject, notAPage, type Target, type TargetAnswer } from './target.js'

/** The positions that a target was seen to have. */
export type Positions = { [Id in AssumptionId]?: Assumptions[Id] }

/** A question that settles a row of the register: the position that each status means. */
interface Probe {
  id: AssumptionId
  path: string
  headers?: Record<string, string>
  position(answer: TargetAnswer): string | undefined
}

const byStatus =
  (positions: Record<number, string>) =>
  ({ status }: TargetAnswer) =>
    positions[status]

/** A name that no record has. */
const NOTHING = 'notification-mock-asks'

const PROBES: readonly Probe[] = [
  {
    id: 'total-count',
    path: '/v1/messages?limit=1',
    position: ({ status, body }) =>
      status === 200 && isObject(body) ? ('totalCount' in body ? 'present' : 'absent') : undefined
  },
  {
    id: 'unknown-channel-filter',
    path: `/v1/messages?limit=1&channel=${NOTHING}`,
    position: byStatus({ 422: 'refuse', 200: 'empty-page' })
  },
  {
    id: 'unknown-subscriber-filter',
    path: `/v1/messages?limit=1&subscriberId=${NOTHING}`,
    position: byStatus({ 200: 'empty-page', 404: 'not-found' })
  },
  {
    id: 'malformed-context-key',
    path: `/v1/messages?limit=1&contextKeys=${NOTHING}`,
    position: byStatus({ 422: 'refuse', 200: 'empty-page' })
  },
  { id: 'paging-bounds', path: '/v1/messages?limit=1001', position: byStatus({ 422: 'strict', 400: 'lenient' }) },
  {
    id: 'unknown-workflow',
    path: `/v2/workflows/${NOTHING}/steps/${NOTHING}`,
    position: ({ status, body }) =>
      status === 404 && isObject(body) ? ('workflowId' in body ? 'with-facts' : 'named') : undefined
  },
  { id: 'unserved-route', path: `/v1/${NOTHING}`, position: byStatus({ 501: 'explain', 404: 'not-found' }) }
]

/** Asks a target, by reading alone, for its position in each row that this shows. */
export async function detectPositions(target: Target, apiKey: string): Promise<Positions> {
  const found: Record<string, string> = {}
  for (const { id, path, position } of PROBES) {
    const answer = await target.askForAny(path, { check: path.startsWith('/v1/messages') ? notAPage : notAnObject })
    // What a gateway answers in place of the service shows nothing.
    const value = answer && isObject(answer.body) ? position(answer) : undefined
    if (value !== undefined) found[id] = value
  }
  // In the spelling of no client, so that it settles only what it asks.
  const answer = await target.askForAny('/v1/messages?limit=1', { headers: { authorization: `apikey ${apiKey}` } })
  if (answer?.status === 200) found['auth-scheme-case'] = 'any'
  if (answer?.status === 401) found['auth-scheme-case'] = 'exact'
  return found as Positions
}

/** Adds what the answer to a step shows. Returns the step itself. */
export function stepIn({ text, body }: TargetAnswer, positions: Positions): unknown {
  const isWrapped = isObject(body) && isObject(body.data) && Object.keys(body).length === 1
  const step = isWrapped ? body.data : body
  positions.envelope = isWrapped ? 'data' : 'bare'
  if (isObject(step) && isObject(step.controls)) {
    positions['control-values'] = 'values' in step.controls ? 'twice' : 'once'
  }
  noteVendorNames(text, positions)
  return step
}

/** Adds what the spelling of names in an answer shows. */
export function noteVendorNames(text: string, positions: Positions): void {
  for (const [name, vendor] of Object.entries(VENDOR_NAMES)) {
    if (text.includes(`"${vendor}"`)) positions['vendor-names'] = 'vendor'
    else if (text.includes(`"origin":"${name}"`)) positions['vendor-names'] ??= 'contract'
  }
}

/** Returns the profile that most of the positions are of, and the positions that are not. */
export function profileOf(positions: Positions): { profile: Profile; assumptions: Record<string, string> } {
  const [document, live] = PROFILES.map((name) => assume(name))
  const counted = (all: Assumptions | undefined) =>
    ASSUMPTION_IDS.filter((id) => positions[id] !== undefined && positions[id] === all?.[id]).length
  const profile = counted(live) > counted(document) ? 'live' : 'document'
  return { profile, assumptions: overridesOf(profile, assume(profile, positions as Record<string, string>)) }
}
