import { slugify } from '../core/slug.js'
import type { SeedEnvironment, SeedWorkflow } from './format.js'

/** What an environment holds before a seed is added to it. */
export interface ExistingData {
  /** All but the messages, in the form of a seed that leaves nothing to defaults. */
  seed: SeedEnvironment
  messageCount: number
  hasMessage: (id: string) => boolean
}

/**
 * Returns what stays when the seed is added, which is all but the records with the `_id` or the name of one in the
 * seed, and the ids of these, by `recordKey`, for the new records to keep. With a step for each record.
 */
export function* leavingReplaced(existing: SeedEnvironment, seed: SeedEnvironment) {
  const replacedIds = new Map<string, string>()
  const { integrations = [], subscribers = [], workflows = [] } = seed
  const stepIds = new Set(workflows.flatMap(({ steps = [] }) => steps.map(({ _id }) => _id)))
  const remaining = {
    ...existing,
    integrations: yield* leaving('integration', existing.integrations, integrations, (each) => each.identifier),
    subscribers: yield* leaving('subscriber', existing.subscribers, subscribers, (each) => each.subscriberId),
    workflows: yield* leaving('workflow', existing.workflows, workflows, identifierOf)
  }
  const kept = new Set(remaining.workflows)
  for (const workflow of existing.workflows ?? []) {
    yield
    if (kept.has(workflow)) continue
    for (const { _id = '', stepId } of workflow.steps ?? []) {
      if (!stepIds.has(_id)) replacedIds.set(recordKey('workflow', workflow.identifier, 'step', stepId), _id)
    }
  }
  return { remaining, replacedIds }

  function* leaving<Each extends { _id?: string }>(
    kind: string,
    present: readonly Each[] = [],
    added: readonly Each[],
    nameOf: (each: Each) => string | undefined
  ): Generator<undefined, Each[]> {
    const ids = new Set(added.map(({ _id }) => _id))
    const names = new Set<string | undefined>()
    for (const each of added) {
      yield
      names.add(nameOf(each))
    }
    const remaining: Each[] = []
    for (const each of present) {
      yield
      const { _id = '' } = each
      const isReplaced = names.has(nameOf(each)) || ids.has(_id)
      if (!isReplaced) remaining.push(each)
      else if (!ids.has(_id)) replacedIds.set(recordKey(kind, nameOf(each)), _id)
    }
    return remaining
  }
}

const identifierOf = ({ identifier, name = '' }: SeedWorkflow) => identifier ?? slugify(name)

/** Identifies a record by the path that its id is derived from: its kind and name, and a step's after its workflow's. */
export const recordKey = (...path: unknown[]) => JSON.stringify(path)
