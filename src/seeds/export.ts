import type { Settings } from '../environments/service.js'
import type { MessageResponse } from '../messages/schemas.js'
import type { WorkflowStep } from '../workflow-steps/schemas.js'
import type { EnvironmentData, WorkflowDocument } from './environment-data.js'
import type { SeedEnvironment, SeedMessage, SeedWorkflow } from './format.js'
import type { RecordKind } from './repository.js'

/**
 * Returns an environment as a seed with nothing left to defaults: an environment made of it gives the same answers, byte
 * for byte. Its keys, which are not stored, are not in it, nor its own id and organization.
 */
export function exportSeed(stored: Settings & Pick<EnvironmentData, RecordKind>): SeedEnvironment {
  const { name, profile, assumptions, clock, randomSeed } = stored
  return {
    name,
    ...(profile && { profile }),
    ...(Object.keys(assumptions).length > 0 && { assumptions }),
    ...(clock.mode !== 'wall' && { clock }),
    ...(randomSeed !== null && { randomSeed }),
    integrations: stored.integrations.map(withoutOwner),
    subscribers: stored.subscribers.map(withoutOwner),
    workflows: stored.workflows.map((workflow) => exportWorkflow(workflow, stored.steps)),
    messages: stored.messages.map(exportMessage)
  } as SeedEnvironment
}

function exportWorkflow(workflow: WorkflowDocument, steps: readonly WorkflowStep[]): SeedWorkflow {
  const own = steps.filter(({ workflowDatabaseId }) => workflowDatabaseId === workflow._id)
  return {
    ...workflow,
    steps: own.map(({ workflowId: _identifier, workflowDatabaseId: _id, origin: _origin, ...step }) => step)
  }
}

function exportMessage({ subscriber, template, ...message }: MessageResponse): SeedMessage {
  const { notificationGroup, ...fields } = template ?? {}
  const group = notificationGroup && { notificationGroup: withoutOwner(notificationGroup) }
  return {
    ...withoutOwner(message),
    ...(subscriber && { subscriber: withoutOwner(subscriber) }),
    ...(template && { template: { ...withoutOwner(fields), ...group } })
  } as SeedMessage
}

function withoutOwner<Document extends object>(
  document: Document & { _environmentId?: string; _organizationId?: string }
) {
  const { _environmentId, _organizationId, ...rest } = document
  return rest
}
