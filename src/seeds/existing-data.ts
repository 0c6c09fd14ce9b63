import { slugify } from '../core/slug.js'
import type { World } from './environment-data.js'
import type { SeedEnvironment } from './format.js'

/** What an environment holds, as far as a seed that is added to it has to know. */
export interface Held extends Pick<World, 'integrations' | 'subscribers' | 'workflows' | 'steps'> {
  messageCount: number
  hasMessage: (id: string) => boolean
}

/** What an environment holds, parted by a seed that is added to it. */
export interface Parted extends Pick<World, 'integrations' | 'subscribers' | 'workflows' | 'steps'> {
  /**
   * The ids of what the seed brings anew, which are kept: `idOfAnew('integration', 'sendgrid-main')`. A step's name
   * begins with its workflow's.
   */
  idOfAnew(kind: 'integration' | 'subscriber' | 'workflow' | 'step', ...name: string[]): string | undefined
}

/** Leaves what stays beside the seed: all but what has the `_id`, identifier or subscriberId of something in it. */
export function partHeld(held: Held, { integrations = [], subscribers = [], workflows = [] }: SeedEnvironment): Parted {
  const ids = new Map<string, string>()
  const news = {
    integrations: namesOf(integrations, ({ identifier }) => identifier),
    subscribers: namesOf(subscribers, ({ subscriberId }) => subscriberId),
    workflows: namesOf(workflows, ({ identifier, name = '' }) => identifier ?? slugify(name)),
    steps: new Set(workflows.flatMap(({ steps = [] }) => steps.map(({ _id }) => _id)))
  }

  /** Whether it stays. An id that the seed gives to something else is not kept. */
  const stays = (kind: string, name: string, id: string, given: ReadonlySet<unknown>): boolean => {
    if (!given.has(name) && !given.has(id)) return true
    if (!given.has(id)) ids.set(keyOf(kind, name), id)
    return false
  }

  const stayingWorkflows = held.workflows.filter(({ identifier, _id }) =>
    stays('workflow', identifier, _id, news.workflows)
  )
  const staying = new Set(stayingWorkflows.map(({ _id }) => _id))
  for (const { _id, stepId, workflowId, workflowDatabaseId } of held.steps) {
    if (!staying.has(workflowDatabaseId) && !news.steps.has(_id)) ids.set(keyOf('step', workflowId, stepId), _id)
  }
  return {
    integrations: held.integrations.filter(({ identifier, _id }) =>
      stays('integration', identifier, _id, news.integrations)
    ),
    subscribers: held.subscribers.filter(({ subscriberId, _id }) =>
      stays('subscriber', subscriberId, _id, news.subscribers)
    ),
    workflows: stayingWorkflows,
    steps: held.steps.filter(({ workflowDatabaseId }) => staying.has(workflowDatabaseId)),
    idOfAnew: (kind, ...name) => ids.get(keyOf(kind, ...name))
  }
}

function keyOf(...name: string[]): string {
  return JSON.stringify(name)
}

function namesOf<Each extends { _id?: string }>(all: readonly Each[], nameOf: (each: Each) => string | undefined) {
  return new Set(all.flatMap((each) => [nameOf(each), each._id].filter((name) => name !== undefined)))
}
