import type { Profile } from '../core/assumptions.js'
import type { Integration } from '../integrations/schemas.js'
import type { MessageResponse } from '../messages/schemas.js'
import type { WorkflowStep } from '../workflow-steps/schemas.js'
import { type Answer, isObject } from './answers.js'
import type { Ask } from './target.js'

/** What probes look at: a target, and what was found of its data. */
export interface Evidence {
  ask(path: string, ask?: Ask): Promise<Answer>
  /** The steps that are known. Rejects with `Skipped` when none is. */
  steps(): Promise<{ workflowId: string; stepId: string; step: Partial<WorkflowStep> }[]>
  /** The newest messages. Rejects with `Skipped` when there is none. */
  sample(): Promise<{ messages: readonly MessageResponse[] }>
}

/** What there is too where a target may be changed. */
export interface ChangingEvidence extends Evidence {
  options: { foreignIntegration?: string | undefined }
  integrations: {
    all(): Promise<{ answer: Answer; integration: Integration | undefined }[]>
    usable(): Promise<Integration[]>
    set(id: string, ask?: Ask): Promise<Answer>
  }
}

/** One field, or the status, that two servers have answered otherwise. */
export interface SeenDifference {
  operation: 'list' | 'step' | 'set-primary' | 'none'
  query: URLSearchParams
  statuses: number[]
  /** Of both answers, without what wraps them. */
  bodies: Record<string, unknown>[]
  difference: { field: string; target?: unknown; ours?: unknown }
}

/** A row of the register, as far as it shows in what a target answers. */
export interface Row<Source> {
  /** Returns the position that a target takes. Rejects with `Failure` when it takes none, `Skipped` when that can't be told. */
  probe(source: Source): Promise<Profile>
  /** Whether the row is why two servers have answered a request differently. */
  explains?(seen: SeenDifference): boolean
  /** Whether it is why a published document of an operation (`GET /v1/messages`) differs in something (`status 404`). */
  documented?(operation: string, what: string, change: { there?: unknown; here?: unknown }): boolean
}

/** Explains that one server answers an operation with this status, and the other with one of the others. */
export const differ =
  (operation: SeenDifference['operation'], status: number, ...others: number[]) =>
  ({ operation: asked, statuses }: Pick<SeenDifference, 'operation' | 'statuses'>) =>
    asked === operation && statuses.includes(status) && others.some((other) => statuses.includes(other))

/** Explains a difference of documents by its place. */
export const inDocument = (operation: RegExp, what: RegExp) => (of: string, difference: string) =>
  operation.test(of) && what.test(difference)

export const isEmpty = (value: unknown) => isObject(value) && Object.keys(value).length === 0

/** Whether exactly one of the answers has the field. */
export const isOnOneSide = ({ target, ours }: SeenDifference['difference']) =>
  (target === undefined) !== (ours === undefined)
