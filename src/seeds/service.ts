import type { Clock } from '../clock.js'
import type { Db } from '../db/open.js'
import { hashOfKey } from '../environments/service.js'
import { canonicalContext } from '../messages/service.js'
import type { SeedFile } from './read.js'
import { type SeedRepository, seedRepository } from './repository.js'
import { resolveSeeds, type World } from './resolve.js'

export interface SeedOutcome {
  /** False: the database already held environments, and was left as it is. */
  applied: boolean
  /** What the seeds describe, whether or not it was applied just now. */
  worlds: World[]
}

export function seedService({ db, clock }: { db: Db; clock: Clock }) {
  const repository = seedRepository(db)

  return {
    /**
     * Fills an empty database with what the seeds describe, in one transaction. Throws SeedError with every mistake,
     * and then nothing has been applied.
     */
    seed(files: readonly SeedFile[]): SeedOutcome {
      const now = clock()
      const worlds = resolveSeeds(files, now)
      const applied = db.transaction(() => {
        if (repository.hasEnvironments()) return false
        for (const world of worlds) insertWorld(repository, world, now)
        return true
      })
      return { applied, worlds }
    }
  }
}

function insertWorld(repository: SeedRepository, world: World, now: number): void {
  const { id, organizationId, name, profile, assumptions } = world
  const environment = repository.insertEnvironment({ id, organizationId, name, profile, assumptions, createdAt: now })
  for (const key of world.apiKeys) repository.insertApiKey({ hash: hashOfKey(key), environment })

  for (const integration of world.integrations) {
    const { _id, identifier, channel, active, primary, deleted } = integration
    const document = JSON.stringify(integration)
    repository.insertIntegration({ environment, id: _id, identifier, channel, active, primary, deleted, document })
  }
  for (const subscriber of world.subscribers) {
    const { _id, subscriberId } = subscriber
    repository.insertSubscriber({ environment, id: _id, subscriberId, document: JSON.stringify(subscriber) })
  }
  for (const workflow of world.workflows) {
    const { _id, identifier } = workflow
    repository.insertWorkflow({ environment, id: _id, identifier, document: JSON.stringify(workflow) })
  }
  const positions = new Map<string, number>()
  for (const step of world.steps) {
    const { _id, workflowDatabaseId: workflowId, stepId } = step
    const position = positions.get(workflowId) ?? 0
    positions.set(workflowId, position + 1)
    repository.insertStep({ environment, id: _id, workflowId, stepId, position, document: JSON.stringify(step) })
  }
  for (const message of world.messages) {
    repository.insertMessage({
      environment,
      id: message._id,
      createdAt: Date.parse(message.createdAt),
      channel: message.channel,
      subscriberId: message.subscriber?.subscriberId ?? null,
      transactionId: message.transactionId,
      context: canonicalContext(message.contextKeys ?? []),
      document: JSON.stringify(message)
    })
  }
}
