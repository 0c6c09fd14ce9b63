import { createHash } from 'node:crypto'
import { StartError } from '../../domain/errors.js'
import { withoutExtras } from '../../messages/schemas.js'
import { isObject } from '../../schema/validation.js'
import { exportMessage } from '../../seeds/export.js'
import { pageProblem, requestUntilUsable } from '../patient-requests.js'
import type { Target } from '../target.js'
import type { KeptFieldNames } from './kept-field-names.js'
import { type SeedDeviations, toSeedMessage } from './seed-record.js'

export interface ReadOptions {
  target: Target
  pageSize: number
  /** The maximum number of messages to record, starting with the newest. */
  maximum: number
  /** The maximum total size of the messages and subscribers, in bytes. */
  maxBytes: number
  deviations: SeedDeviations
  names: KeptFieldNames
  onProgress(messages: number): void
}

export interface ReadMessage {
  /** The creation time followed by the id. Messages are sorted by this string. */
  sortKey: string
  /**
   * The message as JSON, in a buffer because a string takes more memory. If the message's
   * subscriber is identical to the one in `subscribers`, the JSON contains only its `subscriberId`.
   */
  json: Buffer
}

/** A workflow that messages refer to. */
export interface NamedWorkflow {
  id: string
  name: string
  /** Ids that may belong to steps of the workflow. */
  steps: Set<string>
}

/** The messages and related records, before personal data is replaced. */
export interface ReadMessages {
  /** The messages by id. A message is undefined if a seed can't contain it. */
  messages: ReadonlyMap<string, ReadMessage | undefined>
  /** The JSON of each subscriber, by `subscriberId`. */
  subscribers: ReadonlyMap<string, string>
  /** The workflows by identifier. */
  workflows: ReadonlyMap<string, NamedWorkflow>
  owner: { _environmentId?: string; _organizationId?: string }
}

type RawRecord = Record<string, unknown>

/**
 * The maximum number of passes over all pages. If the last pass still finds new messages, the
 * recording ends and may lack messages.
 */
const MAX_PASSES = 5

/**
 * Reads all pages of messages repeatedly, until a pass finds no new message. A single pass can miss
 * messages, because every message that arrives or is removed shifts the pages. Throws `StartError`
 * if the pages never end.
 */
export function readMessages(options: ReadOptions): Promise<ReadMessages> {
  return new MessageReader(options).read()
}

class MessageReader implements ReadMessages {
  readonly messages = new Map<string, ReadMessage | undefined>()
  readonly subscribers = new Map<string, string>()
  readonly workflows = new Map<string, NamedWorkflow>()
  owner: ReadMessages['owner'] = {}
  readonly #options: ReadOptions
  #bytes = 0

  constructor(options: ReadOptions) {
    this.#options = options
  }

  async read(): Promise<ReadMessages> {
    const { deviations } = this.#options
    let sizeBefore = -1
    for (let pass = 0; this.messages.size > sizeBefore && !this.#isFull(); pass++) {
      if (pass === MAX_PASSES) {
        deviations.add('messages changed during the recording, so some may be missing')
        return this
      }
      sizeBefore = this.messages.size
      await this.#readPass()
    }
    if (this.#isFull()) {
      const count = this.messages.size
      deviations.add(`only the newest ${count} messages fit in a seed file`)
    }
    return this
  }

  #isFull(): boolean {
    return this.#bytes > this.#options.maxBytes
  }

  async #readPass(): Promise<void> {
    const { pageSize, maximum, onProgress } = this.#options
    const seenInPass = new Set<string>()
    let firstKey: string | undefined
    for (let page = 0; seenInPass.size < maximum; page++) {
      const { data, hasMore } = await this.#readPage(page)
      const keys = data.map(keyOf)
      if (keys.length > 0 && keys.every((key) => seenInPass.has(key)))
        await this.#checkProgress(page, firstKey)
      firstKey ??= keys[0]
      for (const [index, key] of keys.entries()) {
        seenInPass.add(key)
        if (!this.messages.has(key)) this.#addMessage(key, data[index] ?? {})
      }
      onProgress(Math.min(this.messages.size, maximum))
      const isLast = keys.length === 0 || !(hasMore ?? keys.length >= pageSize)
      if (isLast || this.#isFull()) return
    }
  }

  /**
   * Finds out why a page only repeats earlier messages. If the first page starts with a different
   * message now, the pages have shifted, and reading can continue. Otherwise the target would
   * repeat the same messages forever, so this throws `StartError`.
   */
  async #checkProgress(page: number, firstKey: string | undefined): Promise<void> {
    const { data } = await this.#readPage(0)
    const [newest] = data.map(keyOf)
    if (newest !== firstKey) return
    throw new StartError(
      `page ${page} of the target only repeats messages of earlier pages, so the list never ` +
        'ends; check that the target supports the parameter `page`'
    )
  }

  async #readPage(page: number): Promise<{ data: RawRecord[]; hasMore?: boolean }> {
    const { target, pageSize } = this.#options
    const path = `/v1/messages?page=${page}&limit=${pageSize}`
    const { status, body } = await requestUntilUsable(target, path, pageProblem)
    if (status === 200) return body as { data: RawRecord[] }
    const reason = target.maskSecrets(textOrEmpty((body as RawRecord).message))
    throw new StartError(`${target.url}${path} returned ${status}: ${reason}`)
  }

  #addMessage(key: string, record: RawRecord): void {
    const { deviations, names } = this.#options
    const message = toSeedMessage(exportMessage(withoutExtras(record) as never), deviations)
    this.messages.set(key, undefined)
    if (!message) return
    const ids = {
      _environmentId: textOrEmpty(record._environmentId),
      _organizationId: textOrEmpty(record._organizationId)
    }
    this.owner = { ...ids, ...this.owner }
    this.#addWorkflow(record)
    names.addMessage(message)
    const { subscriber, createdAt } = message
    const subscriberId = subscriber?.subscriberId ?? ''
    const subscriberJson = JSON.stringify(subscriber)
    if (subscriber && !this.subscribers.has(subscriberId)) {
      names.addSubscriber(subscriber)
      this.subscribers.set(subscriberId, subscriberJson)
      this.#bytes += subscriberJson.length
    }
    // If the embedded subscriber differs from the one in `subscribers`, the message keeps its own.
    const isListed = subscriber && this.subscribers.get(subscriberId) === subscriberJson
    const stored = isListed ? { ...message, subscriber: { subscriberId } } : message
    const json = Buffer.from(JSON.stringify(stored))
    this.#bytes += json.length
    this.messages.set(key, { sortKey: `${createdAt} ${key}`, json })
  }

  /** Adds the message's workflow, and the ids that may belong to its steps. */
  #addWorkflow(record: RawRecord): void {
    const template = isObject(record.template) ? record.template : {}
    const [trigger] = objectsIn(template.triggers)
    const id = textOrEmpty(record._templateId ?? template._id)
    const identifier = textOrEmpty(record.templateIdentifier ?? trigger?.identifier) || id
    if (identifier === '') return
    const workflow = this.workflows.get(identifier) ?? { id, name: '', steps: new Set() }
    workflow.name ||= textOrEmpty(template.name)
    const stepIds = [...objectsIn(template.steps).map(({ _id }) => _id), record._messageTemplateId]
    for (const stepId of stepIds.map(textOrEmpty)) if (stepId) workflow.steps.add(stepId)
    this.workflows.set(identifier, workflow)
  }
}

/** Returns the id of a message, or a hash of the message if it has no id. */
function keyOf(record: RawRecord): string {
  if (typeof record._id === 'string') return record._id
  return createHash('sha256').update(JSON.stringify(record)).digest('hex')
}

const objectsIn = (list: unknown) => (Array.isArray(list) ? list.filter(isObject) : [])
const textOrEmpty = (value: unknown) => (typeof value === 'string' ? value : '')
