import { slugify } from '../core/slug.js'
import type { SeedEnvironment } from './format.js'

/** What an environment holds before a seed is added to it. */
export interface ExistingData {
  /** All but the messages, in the form of a seed that leaves nothing to defaults. */
  seed: SeedEnvironment
  messageCount: number
  hasMessage: (id: string) => boolean
}

/** Identifies a record: its kind, then its name, with the workflow's before a step's. */
export const recordKey = (...names: (string | undefined)[]) => JSON.stringify(names)

/**
 * Returns what stays when the seed is added, under the seed's own name, which is all but the records with the `_id` or the name of one in the
 * seed, and the ids of the others by `recordKey`, for the new records to keep.
 */
export function withoutReplaced(existing: SeedEnvironment, seed: SeedEnvironment) {
  const replacedIds = new Map<string, string>()
  const { integrations = [], subscribers = [], workflows = [] } = seed
  const stepIds = new Set(workflows.flatMap(({ steps = [] }) => steps.map(({ _id }) => _id)))
  const identifier = (each: { identifier?: string; name?: string }) => each.identifier ?? slugify(each.name ?? '')
  const { name, organization, _organizationId } = seed
  const remaining: SeedEnvironment = {
    ...existing,
    name,
    ...(organization !== undefined && { organization }),
    ...(_organizationId !== undefined && { _organizationId }),
    integrations: left('integration', existing.integrations, integrations, (each) => each.identifier),
    subscribers: left('subscriber', existing.subscribers, subscribers, (each) => each.subscriberId),
    workflows: left('workflow', existing.workflows, workflows, identifier)
  }
  for (const workflow of existing.workflows ?? []) {
    if (remaining.workflows?.includes(workflow)) continue
    for (const { _id = '', stepId } of workflow.steps ?? []) {
      if (!stepIds.has(_id)) replacedIds.set(recordKey('step', workflow.identifier, stepId), _id)
    }
  }
  return { remaining, replacedIds }

  function left<Each extends { _id?: string }>(
    kind: string,
    present: readonly Each[] = [],
    added: readonly Each[],
    nameOf: (each: Each) => string | undefined
  ): Each[] {
    const ids = new Set(added.map(({ _id }) => _id))
    const names = new Set(added.map(nameOf))
    return present.filter((each) => {
      const { _id = '' } = each
      if (!names.has(nameOf(each)) && !ids.has(_id)) return true
      if (!ids.has(_id)) replacedIds.set(recordKey(kind, nameOf(each)), _id)
      return false
    })
  }
}
