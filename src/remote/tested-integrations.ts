import type { Integration } from '../integrations/schemas.js'
import { isObject } from '../schema/validation.js'
import { setPrimaryPath } from './paths.js'
import {
  ContractViolation,
  findRecord,
  messageOf,
  NO_PRIMARY,
  type RequestOptions,
  Skipped,
  skipUnless,
  type TargetResponse
} from './response-checks.js'
import type { Target } from './target.js'

/** Whether a run may change the target, and which records of the target it uses. */
export interface ServiceOptions {
  allowChanges: boolean
  workflows: readonly string[]
  steps: readonly string[]
  integrations: readonly string[]
  /** The id of an integration in another environment of the same organization. */
  foreignIntegration?: string | undefined
}

type Channel = Integration['channel']
type KnownIntegration = Integration & { _id: string }
type Send = Target['send']

/** The response of set-primary for one integration. */
export interface SetPrimaryOutcome {
  /** The id or identifier in the request. */
  id: string
  response: TargetResponse
  /** The integration in the response; undefined if set-primary was rejected. */
  integration: KnownIntegration | undefined
}

/** The changes to primary integrations that remain after a run. */
export interface RestoreOutcome {
  /** One line for each former primary that could not be restored. */
  notRestored: string[]
  /** The channels that had no primary before and have one now. */
  newPrimaries: Channel[]
}

const NAME_ONE = '--integration <id of the primary>'
const NAME_TWO = `${NAME_ONE} --integration <id of another>`

/**
 * Makes integrations primary on behalf of the cases. Remembers which integrations were primary
 * before, so that `restore()` can make them primary again.
 */
export class TestedIntegrations {
  readonly #send: Send
  readonly #options: ServiceOptions
  /** The integrations that the target listed before the first change, if it could list them. */
  #listedBefore: KnownIntegration[] | undefined
  /**
   * Maps the id in each set-primary request to the integration's channel, or to undefined until a
   * response contains the channel.
   */
  readonly #changed = new Map<string, Channel | undefined>()
  /** The `_id` of the integration that was last made primary in each channel. */
  readonly #primaries = new Map<Channel, string>()
  #outcomes: Promise<SetPrimaryOutcome[]> | undefined

  constructor(send: Send, options: ServiceOptions) {
    this.#send = send
    this.#options = options
  }

  /**
   * Returns the target's integrations. Throws `Skipped` if the target can't list them, because the
   * API reference has no operation for that.
   */
  async list(): Promise<Integration[]> {
    const integrations = await listIntegrations(this.#send)
    skipUnless(integrations !== undefined, 'the target does not list its integrations')
    return integrations
  }

  /**
   * Returns the responses of set-primary for all integrations that cases may change. Throws
   * `Skipped` if changes aren't allowed or no integration is known.
   */
  all(): Promise<SetPrimaryOutcome[]> {
    this.#requireChanges()
    this.#outcomes ??= this.#setEachPrimary().catch((error) => {
      // Forget the failed attempt, so that the next case tries again.
      this.#outcomes = undefined
      throw error
    })
    return this.#outcomes
  }

  /**
   * Sends set-primary for each integration, because no other operation in the API reference returns
   * integrations.
   */
  async #setEachPrimary(): Promise<SetPrimaryOutcome[]> {
    await this.#rememberList()
    const listedIds = (this.#listedBefore ?? []).map(({ _id }) => _id)
    const ids = this.#options.integrations.length > 0 ? this.#options.integrations : listedIds
    const reason =
      'the target lists no integrations: name two per channel, the current primary first'
    skipUnless(ids.length > 0, reason, NAME_TWO)
    const outcomes: SetPrimaryOutcome[] = []
    for (const id of ids) {
      const response = await this.setPrimary(id)
      const integration = findRecord<KnownIntegration>(response)
      const isUsable = typeof integration?._id === 'string'
      outcomes.push({ id, response, integration: isUsable ? integration : undefined })
    }
    return outcomes
  }

  /**
   * Returns the integrations that can be primary. If there are none, throws `ContractViolation` if
   * set-primary failed, or `Skipped` if a channel doesn't support a primary integration.
   */
  async usable(): Promise<KnownIntegration[]> {
    const outcomes = await this.all()
    const integrations = outcomes.flatMap(({ integration }) => integration ?? [])
    const [first] = outcomes
    const hasOtherCause = outcomes.some(({ response }) => hasNoPrimary(response))
    if (first && integrations.length === 0 && !hasOtherCause) checkSetPrimary(first.response)
    skipUnless(integrations.length > 0, 'no known integration can be primary', NAME_ONE)
    return integrations
  }

  async one(): Promise<KnownIntegration> {
    const [first] = await this.usable()
    return first as KnownIntegration
  }

  /** Returns two integrations of the same channel. Throws `Skipped` if no channel has two. */
  async pair(): Promise<[KnownIntegration, KnownIntegration]> {
    const integrations = await this.usable()
    for (const first of integrations) {
      const second = integrations.find(
        ({ _id, channel }) => channel === first.channel && _id !== first._id
      )
      if (second) return [first, second]
    }
    throw new Skipped('no channel has two known integrations', NAME_TWO)
  }

  /** Sends set-primary. Throws `Skipped` if changes aren't allowed. */
  async setPrimary(id: string, options: RequestOptions = {}): Promise<TargetResponse> {
    this.#requireChanges()
    await this.#rememberList()
    const isFirst = !this.#changed.has(id)
    // Record the id before sending, because the target may make the change but not respond.
    if (isFirst) this.#changed.set(id, undefined)
    const response = await this.#send(setPrimaryPath(id), { ...options, method: 'POST' })
    const integration = findRecord<KnownIntegration>(response)
    if (integration?.channel !== undefined) {
      this.#changed.set(id, integration.channel)
      this.#primaries.set(integration.channel, integration._id)
      return response
    }
    const isRejected = response.status >= 400 && response.status < 500
    if (isFirst && isRejected) this.#changed.delete(id)
    return response
  }

  #requireChanges(): void {
    const reason = 'the case changes the environment'
    skipUnless(this.#options.allowChanges, reason, '--allow-changes')
  }

  async #rememberList(): Promise<void> {
    if (this.#changed.size === 0) this.#listedBefore ??= await listIntegrations(this.#send)
  }

  /**
   * Returns the `_id` of the integration that should be the channel's primary; undefined if the
   * channel should have none.
   */
  expectedPrimary(channel: Channel): string | undefined {
    const former = this.#listedBefore?.find(
      (integration) => integration.primary && integration.channel === channel
    )
    return this.#primaries.get(channel) ?? former?._id
  }

  /**
   * Makes the former primaries primary again, even after an interrupt. If the target couldn't list
   * its integrations, assumes that the first `--integration` of each channel was primary. Never
   * rejects.
   */
  async restore(): Promise<RestoreOutcome> {
    return this.#listedBefore
      ? await this.#restoreListed(this.#listedBefore)
      : await this.#restoreNamed()
  }

  async #restoreListed(listedBefore: KnownIntegration[]): Promise<RestoreOutcome> {
    const formerPrimaries = listedBefore.filter(({ primary }) => primary)
    const channels = this.#changedChannels(listedBefore)
    const isChanged = this.#changed.size > 0
    const demoted = isChanged ? await this.#findDemoted(formerPrimaries) : []
    // The target may also have demoted integrations in channels that the cases didn't change.
    const toRestore = formerPrimaries.filter(
      (integration) => channels.has(integration.channel) || demoted.includes(integration)
    )
    const notRestored = await this.#restoreEach(toRestore.map(({ _id }) => _id))
    const stillDemoted = toRestore.length > 0 ? await this.#findDemoted(formerPrimaries) : []
    notRestored.push(...stillDemoted.map(({ _id }) => `${_id}: it is still not primary`))
    const formerChannels = new Set(formerPrimaries.map(({ channel }) => channel))
    const newPrimaries = [...channels].filter((channel) => !formerChannels.has(channel))
    return { notRestored, newPrimaries }
  }

  async #restoreNamed(): Promise<RestoreOutcome> {
    const notRestored: string[] = []
    const toRestore: string[] = []
    for (const channel of this.#changedChannels([])) {
      const first = this.#options.integrations.find((id) => this.#changed.get(id) === channel)
      if (first !== undefined) toRestore.push(first)
      else notRestored.push(`channel ${channel}: its former primary is unknown`)
    }
    notRestored.push(...(await this.#restoreEach(toRestore)))
    return { notRestored, newPrimaries: [] }
  }

  #changedChannels(listedBefore: readonly KnownIntegration[]): Set<Channel> {
    const channels = new Set<Channel>()
    for (const [id, channel] of this.#changed) {
      const listed = listedBefore.find(({ _id, identifier }) => id === _id || id === identifier)
      const changedChannel = channel ?? listed?.channel
      if (changedChannel) channels.add(changedChannel)
    }
    return channels
  }

  /** Sends set-primary for each id and returns a line for each failure. */
  async #restoreEach(ids: readonly string[]): Promise<string[]> {
    const problems: string[] = []
    for (const id of ids) {
      const request = { method: 'POST', uninterrupted: true }
      try {
        const { status } = await this.#send(setPrimaryPath(id), request)
        if (status !== 200) problems.push(`${id}: status ${status}`)
      } catch (error) {
        problems.push(`${id}: ${(error as Error).message}`)
      }
    }
    return problems
  }

  /** Returns the integrations that were primary before the run and no longer are. */
  async #findDemoted(formerPrimaries: KnownIntegration[]): Promise<KnownIntegration[]> {
    if (formerPrimaries.length === 0) return []
    const current = (await listIntegrations(this.#send, { uninterrupted: true })) ?? []
    const demotedIds = new Set(current.filter(({ primary }) => !primary).map(({ _id }) => _id))
    return formerPrimaries.filter(({ _id }) => demotedIds.has(_id))
  }
}

/** The paths where Novu and the mock list integrations. The API reference has no such operation. */
const LIST_PATHS = ['/v1/integrations', '/_mock/integrations']

/** Returns the integrations that the target lists; undefined if it has no readable list. */
async function listIntegrations(
  send: Send,
  options: RequestOptions = {}
): Promise<KnownIntegration[] | undefined> {
  for (const path of LIST_PATHS) {
    const response = await send(path, options).catch(() => undefined)
    const integrations = integrationsIn(response)
    if (integrations) return integrations.filter(({ deleted }) => deleted !== true)
  }
  return undefined
}

function integrationsIn(response: TargetResponse | undefined): KnownIntegration[] | undefined {
  if (response === undefined) return undefined
  const { body, status } = response
  const fields = status === 200 && isObject(body) ? body : {}
  const list = Array.isArray(body) ? body : (fields.data ?? fields.integrations)
  return Array.isArray(list) && list.every(isIntegration) ? list : undefined
}

function isIntegration(value: unknown): value is KnownIntegration {
  return isObject(value) && typeof value._id === 'string' && typeof value.channel === 'string'
}

/** Throws `ContractViolation` unless set-primary succeeded or the channel supports no primary. */
export function checkSetPrimary(response: TargetResponse): void {
  if (response.status === 200 || hasNoPrimary(response)) return
  const problem = `status ${response.status}, expected 200 for an existing integration`
  throw new ContractViolation(problem, response)
}

function hasNoPrimary(response: TargetResponse): boolean {
  return response.status === 400 && NO_PRIMARY.test(String(messageOf(response)))
}
