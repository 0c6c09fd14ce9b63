import type { EnvironmentRow } from '../environments/repository.js'
import type { MessageResponse } from '../messages/schemas.js'
import type { WorkflowStep } from '../workflow-steps/schemas.js'
import type { EnvironmentData, WorkflowDocument } from './environment-data.js'
import type { SeedEnvironment, SeedMessage, SeedWorkflow } from './format.js'
import type { RecordKind } from './repository.js'

type Settings = Pick<EnvironmentRow, 'name' | 'profile' | 'assumptions' | 'clock' | 'randomSeed'>

/**
 * Returns an environment as a seed with nothing left to defaults: an environment made of it gives the same answers, byte
 * for byte. Neither its keys are in it, as they are not stored, nor its own id and organization.
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
