import type { Db } from '../db/open.js'
import { withVendorNames } from '../domain/assumptions.js'
import { DomainError, invalidFields } from '../domain/errors.js'
import { parseId } from '../domain/ids.js'
import { didYouMean } from '../domain/suggestions.js'
import {
  type Environment,
  type EnvironmentService,
  withEnvironmentIds
} from '../environments/service.js'
import type { ChangedRecord } from '../schema/shared.js'
import { IntegrationRepository, type StoredIntegration } from './repository.js'
import type { Integration } from './schemas.js'

export interface PrimaryResult {
  /** The integration as JSON, with the environment's assumptions applied. */
  integration: string
  /** The integrations that became primary or stopped being primary. */
  changes: ChangedRecord[]
}

export class IntegrationService {
  readonly #db: Db
  readonly #environments: EnvironmentService
  readonly #repository: IntegrationRepository

  constructor({ db, environments }: { db: Db; environments: EnvironmentService }) {
    this.#db = db
    this.#environments = environments
    this.#repository = new IntegrationRepository(db)
  }

  /**
   * Makes an integration the only primary integration of its channel, activates it and removes its
   * conditions. Changes nothing if the integration is already primary.
   *
   * Throws `not-found` if the environment has no such integration or the integration is
   * soft-deleted. Throws `bad-request` if its channel can't have a primary integration.
   *
   * If the assumption `integration-lookup` is `id`, throws `invalid` for an `integrationId` that
   * isn't an id. If `foreign-integration` is `forbidden`, throws `forbidden` for an integration of
   * another environment of the organization.
   */
  setPrimary(environment: Environment, integrationId: string): PrimaryResult {
    return this.#db.transaction(() => {
      const integration = this.#find(environment, integrationId)
      rejectChannelWithoutPrimary(environment, integration.channel)
      if (integration.primary) {
        const document = withEnvironmentIds(environment, 'integrations', integration.document)
        return { integration: toResponse(document, environment), changes: [] }
      }
      const { id, channel } = integration
      const dataset = this.#environments.writableDataset(environment, 'integrations')
      // SQLite checks unique indexes after each statement, so demote the old primary first.
      const demoted = this.#repository.demotePrimaries(dataset, channel)
      const document = this.#repository.promote(dataset, id)
      const changes = [
        toChangedRecord({ id, channel, document }, 'became primary'),
        ...demoted.map((former) => toChangedRecord({ ...former, channel }, 'is no longer primary'))
      ]
      return { integration: toResponse(document, environment), changes }
    })
  }

  #find(environment: Environment, integrationId: string): StoredIntegration {
    const dataset = environment.datasets.integrations
    const isIdRequired = environment.assumptions['integration-lookup'] === 'id'
    const id = parseId(integrationId)
    if (isIdRequired && id === undefined) {
      const messages = ['integrationId must be a mongodb id']
      throw invalidFields({ integrationId: { messages, value: integrationId } })
    }
    const identifier = isIdRequired ? undefined : integrationId
    const integration =
      (id && this.#repository.findById(dataset, id)) ||
      (identifier && this.#repository.findByIdentifier(dataset, identifier))
    if (!integration) throw this.#notFound(environment, integrationId, identifier)
    if (integration.deleted) {
      const reason =
        `integration ${integrationId} of environment ${environment.name} is soft-deleted, ` +
        'so it is treated as missing'
      throw integrationNotFound(integrationId, reason)
    }
    return integration
  }

  /** Returns the error for an integration that the environment doesn't have. */
  #notFound(
    environment: Environment,
    integrationId: string,
    identifier: string | undefined
  ): DomainError {
    const { assumptions, datasets, name, organizationId } = environment
    const dataset = datasets.integrations
    if (assumptions['foreign-integration'] === 'forbidden') {
      const id = parseId(integrationId) ?? integrationId
      const owner = this.#repository.findOtherOwner({ dataset, organizationId, id, identifier })
      if (owner !== undefined) {
        const reason =
          `environment ${owner} of the same organization has this integration: ` +
          'use an API key of that environment'
        return new DomainError('forbidden', FOREIGN_INTEGRATION, { reason })
      }
    }
    const fields = identifier === undefined ? '_id' : '_id or identifier'
    const hint = didYouMean(integrationId, this.#repository.listIdentifiers(dataset))
    const reason = `environment ${name} has no integration with ${fields} ${integrationId}${hint}`
    return integrationNotFound(integrationId, reason)
  }
}

const NO_PRIMARY =
  'only email and sms integrations can be primary in this environment (assumption primary-channels)'

const FOREIGN_INTEGRATION =
  'API key authentication is scoped to a single environment and cannot set as primary an ' +
  'integration that belongs to a different environment. Use an API key from the ' +
  "integration's environment, or authenticate with a session token."

function rejectChannelWithoutPrimary({ assumptions }: Environment, channel: string): void {
  if (assumptions['primary-channels'] === 'all') return
  if (channel === 'email' || channel === 'sms') return
  const message = `Channel ${channel} does not support primary`
  throw new DomainError('bad-request', message, { reason: NO_PRIMARY })
}

function integrationNotFound(integrationId: string, reason: string): DomainError {
  const message = `Integration with id ${integrationId} not found`
  return new DomainError('not-found', message, { reason })
}

/** Applies the environment's assumptions to the JSON of an integration. */
function toResponse(document: string, environment: Environment): string {
  const { assumptions } = environment
  const isUnchanged =
    assumptions['vendor-names'] !== 'vendor' && assumptions.credentials !== 'hidden'
  if (isUnchanged) return document
  return JSON.stringify(toIntegrationResponse(JSON.parse(document), environment))
}

/** Returns a copy of the integration with the environment's assumptions applied. */
export function toIntegrationResponse(
  integration: Integration,
  { assumptions }: Environment
): Integration {
  const response = structuredClone(integration)
  if (assumptions.credentials === 'hidden') {
    response.credentials = {}
    delete response.configurations?.inboundWebhookSigningKey
  }
  return assumptions['vendor-names'] === 'vendor' ? withVendorNames(response) : response
}

/**
 * Returns the journal's entry for a change to an integration. `name` is a getter, so that the
 * document is parsed only if the entry is read.
 */
function toChangedRecord(
  { id, channel, document }: Pick<StoredIntegration, 'id' | 'channel' | 'document'>,
  action: string
): ChangedRecord {
  return {
    kind: 'integration',
    channel,
    id,
    get name(): string {
      return JSON.parse(document).name
    },
    action
  }
}
