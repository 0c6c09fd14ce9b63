import type { ClockSetting } from '../core/clock.js'
import type { Integration } from '../integrations/schemas.js'
import type { MessageResponse, SubscriberResponse } from '../messages/schemas.js'
import type { WorkflowStep } from '../workflow-steps/schemas.js'
import type { WorkflowDocument } from './environment-data.js'
import type { Seed, SeedMessage, SeedWorkflow } from './format.js'

/** The stored documents of an environment, in the order in which they were stored. */
export interface StoredWorld {
  name: string
  profile: Seed['environments'][number]['profile'] | null
  assumptions: Record<string, string>
  clock: ClockSetting
  randomSeed: number | null
  integrations: Integration[]
  subscribers: SubscriberResponse[]
  workflows: WorkflowDocument[]
  steps: WorkflowStep[]
  messages: MessageResponse[]
}

/**
 * An environment as a seed with nothing left to defaults: what it is made into gives the same answers, byte for byte.
 * Keys are not in it, as they are not stored, nor is whose it is.
 */
export function exportSeed(world: StoredWorld): Seed {
  const { name, profile, assumptions, clock, randomSeed } = world
  return {
    environments: [
      {
        name,
        ...(profile && { profile }),
        ...(Object.keys(assumptions).length > 0 && { assumptions }),
        ...(clock.mode !== 'wall' && { clock }),
        ...(randomSeed !== null && { randomSeed }),
        integrations: world.integrations.map(withoutOwner),
        subscribers: world.subscribers.map(withoutOwner),
        workflows: world.workflows.map((workflow) => exportWorkflow(workflow, world.steps)),
        messages: world.messages.map(exportMessage)
      }
    ]
  } as Seed
}

function exportWorkflow(workflow: WorkflowDocument, steps: readonly WorkflowStep[]): SeedWorkflow {
  const own = steps.filter(({ workflowDatabaseId }) => workflowDatabaseId === workflow._id)
  return {
    ...workflow,
    steps: own.map(({ workflowId: _identifier, workflowDatabaseId: _id, origin: _origin, ...step }) => step)
  }
}

function exportMessage(message: MessageResponse): SeedMessage {
  const { subscriber, template, ...fields } = withoutOwner(message)
  const { notificationGroup, ...templateFields } = template ? withoutOwner(template) : {}
  return {
    ...fields,
    ...(subscriber && { subscriber: withoutOwner(subscriber) }),
    ...(template && {
      template: { ...templateFields, ...(notificationGroup && { notificationGroup: withoutOwner(notificationGroup) }) }
    })
  } as SeedMessage
}

function withoutOwner<Document extends { _environmentId: string; _organizationId: string }>(
  document: Document
): Omit<Document, '_environmentId' | '_organizationId'> {
  const { _environmentId, _organizationId, ...rest } = document
  return rest
}
