import { type AssumptionId, assumptionRow } from '../../core/assumptions.js'
import { attempt, StartError } from '../../core/errors.js'
import { Failure } from '../outcome.js'
import {
  controlValuesPosition,
  envelopePosition,
  type Position,
  READING_ROWS,
  unknownStepPosition,
  vendorNamesPosition
} from '../positions.js'
import type { Answer, Ask, Target } from '../target.js'
import { notAnObject, notAPage } from './asking.js'

/** The positions that a target was seen to take. */
export type Positions = Partial<Record<AssumptionId, Position>>

/** Asks a target, by reading alone, for its position in each row that this shows. */
export async function detectPositions(target: Target): Promise<Positions> {
  const found: Positions = {}
  for (const [id, { probe }] of Object.entries(READING_ROWS)) {
    const position = await probe(askingOf(target)).catch(unlessInterrupted)
    if (position) found[id as AssumptionId] = position
  }
  return found
}

/** Adds what the answer to a step shows that a workflow does not have. */
export async function noteUnknownStep(target: Target, workflowId: string, positions: Positions): Promise<void> {
  const position = await unknownStepPosition(askingOf(target), workflowId).catch(unlessInterrupted)
  if (position) positions['unknown-step'] = position
}

function askingOf({ askAgain }: Target) {
  return {
    async ask(path: string, request: Ask = {}): Promise<Answer> {
      const check = path.startsWith('/v1/messages') ? notAPage : notAnObject
      const { answer } = await askAgain(path, { ...request, check, tries: 2 })
      if (answer) return answer
      throw new Failure('no answer')
    }
  }
}

/** What is neither position, or a gateway answers in place of the service, shows nothing. */
function unlessInterrupted(error: Error): undefined {
  if (error instanceof StartError) throw error
}

/** Adds what the answer to a step shows. */
export function noteStep(answer: Answer, positions: Positions): void {
  const [envelope, values] = [envelopePosition, controlValuesPosition].map((tell) => attempt(() => tell(answer)))
  if (envelope) positions.envelope = envelope
  if (values) positions['control-values'] = values
  noteVendorNames(answer.body, positions)
}

/** Adds what the spelling of names in an answer shows. One of the deployed service's is enough. */
export function noteVendorNames(seen: unknown, positions: Positions): void {
  const position = attempt(() => vendorNamesPosition(seen))
  if (position && positions['vendor-names'] !== 'live') positions['vendor-names'] = position
}

/** Returns the positions as the register calls them. */
export function overridesIn(positions: Positions): Record<string, string> {
  const entries = Object.entries(positions) as [AssumptionId, Position][]
  return Object.fromEntries(entries.map(([id, position]) => [id, assumptionRow(id)[position]]))
}
