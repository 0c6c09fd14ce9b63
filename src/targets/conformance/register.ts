import { type AssumptionId, assumptionRow, positionsOf } from '../../core/assumptions.js'
import type { Integration } from '../../integrations/schemas.js'
import { setPrimaryPath, stepPath } from '../answers.js'
import { needed } from '../outcome.js'
import {
  controlValuesPosition,
  envelopePosition,
  neither,
  type Position,
  positionOf,
  READING_PROBES,
  unknownStepPosition,
  vendorNamesPosition
} from '../positions.js'
import type { Subject } from './subject.js'

/**
 * For each row of the register, how to find out which position a target takes. Throws `Failure` when it takes none of
 * them, and `Skipped` when it can't be told.
 */
const PROBES: Record<AssumptionId, (subject: Subject) => Promise<Position>> = {
  ...READING_PROBES,
  envelope: async (subject) => envelopePosition(await aStep(subject)),
  'control-values': async (subject) => controlValuesPosition(await aStep(subject)),
  async 'vendor-names'(subject) {
    const seen = [await subject.steps().catch(orNothing), await subject.sample().catch(orNothing)]
    const position = vendorNamesPosition(seen)
    needed(position !== undefined, 'no origin and no provider that is spelled in two ways was seen')
    return position
  },
  async 'primary-channels'({ integrations }) {
    const all = await integrations.all()
    for (const { answer, integration } of all) {
      if (integration && !['email', 'sms'].includes(integration.channel)) return 'document'
      if (!integration) return positionOf(answer, { live: [400, /^Channel .+ does not support primary$/] })
    }
    needed(false, 'no integration of another channel than email and sms was named')
    throw new Error('unreachable')
  },
  async 'integration-lookup'({ ask }) {
    const answer = await ask(setPrimaryPath('conformance-none'), { method: 'POST' })
    return positionOf(answer, { document: [404], live: [422] })
  },
  async 'foreign-integration'({ integrations, options }) {
    const id = options.foreignIntegration ?? ''
    needed(id !== '', 'no integration of another environment was named with --foreign-integration')
    return positionOf(await integrations.set(id), { document: [404], live: [403] })
  },
  async credentials({ integrations }) {
    const all = await integrations.all()
    const shown = all.flatMap(({ integration }) => (integration ? [integration] : []))
    needed(shown.length > 0, 'no integration that was named can be primary')
    // That none are shown may be the other position, or their lack.
    needed(shown.some(hasCredentials), 'no credentials were shown: they are hidden, or there are none')
    return 'document'
  },
  async 'unknown-step'(subject) {
    const [{ workflowId = '' } = {}] = await subject.steps()
    return unknownStepPosition(subject, workflowId)
  },
  async 'idempotency-match'({ ask, unknownId, random }) {
    const headers = { 'idempotency-key': random.uuid() }
    const first = await ask(setPrimaryPath(unknownId()), { method: 'POST', headers })
    const second = await ask(setPrimaryPath(unknownId()), { method: 'POST', headers })
    const position = positionOf(second, { document: [422, /reused/], live: [first.status] })
    if (position === 'live' && second.text !== first.text) throw neither(`${second.request}: it is answered afresh`)
    return position
  }
}

/**
 * Returns the position that a target takes in a row. Rejects with `Failure` when it takes none, and with `Skipped` when
 * that can't be told.
 */
export function probe(id: AssumptionId, subject: Subject): Promise<Position> {
  return PROBES[id](subject)
}

export function rowSentence(id: AssumptionId): string {
  const { values } = assumptionRow(id)
  const sides = positionsOf(id).map((position) => (values as Record<string, string>)[position])
  return `${assumptionRow(id).sentence} Either ${sides.join('; or ')}.`
}

async function aStep({ ask, steps }: Subject) {
  const [{ workflowId = '', stepId = '' } = {}] = await steps()
  return ask(stepPath(workflowId, stepId))
}

function hasCredentials({ credentials, configurations }: Integration): boolean {
  return Object.keys(credentials ?? {}).length > 0 || configurations?.inboundWebhookSigningKey !== undefined
}

function orNothing(): undefined {
  return undefined
}
