import type { Db } from '../db/open.js'
import { withVendorNames } from '../domain/assumptions.js'
import { DomainError, invalidFields } from '../domain/errors.js'
import { idIn } from '../domain/ids.js'
import { didYouMean } from '../domain/suggestions.js'
import { type Environment, type EnvironmentService, withOwnIds } from '../environments/service.js'
import type { ChangedRecord } from '../schema/shared.js'
import { type FoundIntegration, integrationRepository } from './repository.js'
import type { Integration } from './schemas.js'

export type IntegrationService = ReturnType<typeof integrationService>

export function integrationService({
  db,
  environments
}: {
  db: Db
  environments: EnvironmentService
}) {
  const repository = integrationRepository(db)

  return {
    /**
     * Makes an integration the one primary of its channel, active and without conditions; one that is primary stays as
     * it is. Returns the integration as this environment presents it, as JSON, and adds to `changed` who stepped up and down.
     *
     * Throws `not-found` when the environment has no such integration or it is soft-deleted, `bad-request` when its
     * channel can't have a primary, and, where the environment assumes so, `invalid` when the text is not an id and
     * `forbidden` when another environment of the organization has the integration.
     */
    setPrimary(
      environment: Environment,
      integrationId: string,
      changed: ChangedRecord[] = []
    ): string {
      return db.transaction(() => {
        const found = find(environment, integrationId)
        const { channel } = found
        if (
          environment.assumptions['primary-channels'] !== 'all' &&
          channel !== 'email' &&
          channel !== 'sms'
        )
          throw new DomainError('bad-request', `Channel ${channel} does not support primary`, {
            reason: NO_PRIMARY
          })
        if (found.primary)
          return toResponse(withOwnIds(environment, 'integrations', found.document), environment)

        // Demote first: SQLite checks the unique index at each statement, not at commit.
        const dataset = environments.ensureOwned(environment, 'integrations')
        const former = repository.demotePrimaries(dataset, channel)
        const document = repository.promote(dataset, found.id)
        changed.push(stepped(found, document, 'became primary'))
        for (const each of former)
          changed.push(stepped({ ...found, ...each }, each.document, 'is no longer primary'))
        return toResponse(document, environment)
      })
    }
  }

  function find(environment: Environment, integrationId: string): FoundIntegration {
    const { assumptions, datasets, name } = environment
    const { integrations } = datasets
    const idOnly = assumptions['integration-lookup'] === 'id'
    const id = idIn(integrationId)
    if (idOnly && id === undefined) {
      const messages = ['integrationId must be a mongodb id']
      throw invalidFields({ integrationId: { messages, value: integrationId } })
    }
    const byId = id === undefined ? undefined : repository.findById(integrations, id)
    const found =
      byId ?? (idOnly ? undefined : repository.findByIdentifier(integrations, integrationId))
    if (found && !found.deleted) return found
    if (!found) rejectForeign(environment, id ?? integrationId, idOnly ? null : integrationId)
    const hint = didYouMean(integrationId, repository.listIdentifiers(integrations))
    const fields = idOnly ? '_id' : '_id or identifier'
    const reason = found
      ? `integration ${integrationId} of environment ${name} is soft-deleted, which counts as absent`
      : `environment ${name} has no integration with ${fields} ${integrationId}${hint}`
    throw new DomainError('not-found', `Integration with id ${integrationId} not found`, { reason })
  }

  function rejectForeign(environment: Environment, id: string, identifier: string | null): void {
    if (environment.assumptions['foreign-integration'] !== 'forbidden') return
    const { datasets, organizationId } = environment
    const owner = repository.findElsewhere(datasets.integrations, organizationId, id, identifier)
    if (owner === undefined) return
    const reason = `the integration is in environment ${owner} of the same organization: use a key of that environment`
    throw new DomainError('forbidden', FOREIGN_INTEGRATION, { reason })
  }
}

const NO_PRIMARY =
  'only email and sms integrations can be primary in this environment (assumption primary-channels)'
const FOREIGN_INTEGRATION =
  "API key authentication is scoped to a single environment and cannot set as primary an integration that belongs to a different environment. Use an API key from the integration's environment, or authenticate with a session token."

/** Returns the integration as the environment's assumptions present it, as JSON. */
function toResponse(document: string, environment: Environment): string {
  const { assumptions } = environment
  if (assumptions['vendor-names'] !== 'vendor' && assumptions.credentials !== 'hidden')
    return document
  return JSON.stringify(toIntegrationResponse(JSON.parse(document), environment))
}

/** Returns the integration as the environment's assumptions present it. */
export function toIntegrationResponse(
  integration: Integration,
  { assumptions }: Environment
): Integration {
  const shown = structuredClone(integration)
  if (assumptions.credentials === 'hidden') {
    shown.credentials = {}
    delete shown.configurations?.inboundWebhookSigningKey
  }
  return assumptions['vendor-names'] === 'vendor' ? withVendorNames(shown) : shown
}

/** Its name is read when somebody looks: each set-primary is told of, and few are looked at. */
function stepped({ id, channel }: FoundIntegration, document: string, what: string): ChangedRecord {
  return {
    kind: 'integration',
    channel,
    id,
    get name(): string {
      return JSON.parse(document).name
    },
    what
  }
}
