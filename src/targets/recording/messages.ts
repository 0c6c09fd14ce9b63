import { createHash } from 'node:crypto'
import { StartError } from '../../core/errors.js'
import { exportMessage } from '../../seeds/export.js'
import type { SeedMessage } from '../../seeds/format.js'
import { isObject } from '../answers.js'
import type { Target } from '../target.js'
import { askFor, notAPage } from './asking.js'
import { inContract, MESSAGE, type Notes, note } from './contract.js'
import type { createNames } from './replacement.js'

export interface ReadOptions {
  target: Target
  pageSize: number
  /** How many messages at most, the newest of them. */
  maximum: number
  /** How many bytes of them at most. */
  maxBytes: number
  notes: Notes
  names: ReturnType<typeof createNames>
  onProgress(messages: number): void
}

/** A workflow that messages name, and what may be the ids of its steps. */
export interface NamedWorkflow {
  id: string
  name: string
  steps: Set<string>
}

/** A message; of a subscriber that is listed it has the `subscriberId` alone. */
export interface ReadMessage {
  /** What the list is sorted by. */
  place: string
  /** Not as a text, which would take more memory. */
  json: Buffer
}

/** What was read, as the target has it. */
export interface ReadMessages {
  /** By id; undefined for one that a seed can't have. */
  messages: Map<string, ReadMessage | undefined>
  /** JSON by subscriberId. */
  subscribers: Map<string, string>
  /** By identifier. */
  workflows: Map<string, NamedWorkflow>
  owner: { _environmentId?: unknown; _organizationId?: unknown }
  bytes: number
}

/** How often all pages are read, until none has a message that is new. */
const MAX_PASSES = 5

/**
 * Reads messages page by page, again and again until nothing new is found: those that come in or are removed meanwhile move
 * others to other pages. Rejects with `StartError` for a target whose pages never end.
 */
export async function readMessages(options: ReadOptions): Promise<ReadMessages> {
  const read: ReadMessages = {
    messages: new Map(),
    subscribers: new Map(),
    workflows: new Map(),
    owner: {},
    bytes: 0
  }
  for (let pass = 0; pass < MAX_PASSES; pass++) {
    const known = read.messages.size
    await readPass(options, read)
    if (read.bytes > options.maxBytes) {
      note(options.notes, `only the newest ${read.messages.size} messages were read, which fill a seed of this format`)
      return read
    }
    if (read.messages.size === known) return read
  }
  note(options.notes, 'messages came and went while they were read: some may be missing')
  return read
}

async function readPass(options: ReadOptions, read: ReadMessages): Promise<void> {
  const { pageSize, maximum, maxBytes, onProgress } = options
  const seen = new Set<string>()
  let first: string | undefined
  for (let page = 0; seen.size < maximum; page++) {
    const { data, hasMore } = await askPage(options, page, pageSize)
    const keys = data.map(keyOf)
    if (keys.length > 0 && keys.every((key) => seen.has(key))) await checkMoved(options, page, first)
    first ??= keys[0]
    for (const [index, key] of keys.entries()) {
      seen.add(key)
      if (!read.messages.has(key)) addMessage(options, read, key, data[index] ?? {})
    }
    onProgress(Math.min(read.messages.size, maximum))
    if (keys.length === 0 || !(hasMore ?? keys.length >= pageSize) || read.bytes > maxBytes) return
  }
}

/** A page repeats those before it also when so many messages came in meanwhile: the first page then has these. */
async function checkMoved(options: ReadOptions, page: number, first: string | undefined): Promise<void> {
  const { data } = await askPage(options, 0, options.pageSize)
  if (data.map(keyOf)[0] !== first) return
  throw new StartError(`page ${page} of the target has only messages of the pages before: it can't be recorded`)
}

interface Page {
  data: Record<string, unknown>[]
  hasMore?: boolean
}

async function askPage({ target }: ReadOptions, page: number, limit: number): Promise<Page> {
  const path = `/v1/messages?page=${page}&limit=${limit}`
  const { status, body } = await askFor(target, path, notAPage)
  if (status === 200) return body as unknown as Page
  const { message } = body as { message?: unknown }
  throw new StartError(`${target.url}${path} answers ${status}${typeof message === 'string' ? `: ${message}` : ''}`)
}

function addMessage({ notes, names }: ReadOptions, read: ReadMessages, key: string, record: Page['data'][0]): void {
  const message = inContract<SeedMessage>(MESSAGE, exportMessage(record as never), notes)
  read.messages.set(key, undefined)
  if (!message) return
  const { _environmentId, _organizationId } = record
  read.owner = { _environmentId, _organizationId, ...read.owner }
  addWorkflow(read, record)
  names.addMessage(message)
  const { subscriber, createdAt } = message
  const { subscriberId = '' } = subscriber ?? {}
  const text = JSON.stringify(subscriber)
  if (subscriber && !read.subscribers.has(subscriberId)) {
    names.addSubscriber(subscriber)
    read.subscribers.set(subscriberId, text)
    read.bytes += text.length
  }
  const isListed = subscriber && read.subscribers.get(subscriberId) === text
  const json = Buffer.from(JSON.stringify(isListed ? { ...message, subscriber: { subscriberId } } : message))
  read.bytes += json.length
  read.messages.set(key, { place: `${createdAt} ${key}`, json })
}

function keyOf(record: Record<string, unknown>): string {
  const { _id } = record
  return typeof _id === 'string' ? _id : createHash('sha256').update(JSON.stringify(record)).digest('hex')
}

/** Notes the workflow that a message names, and all the ids that may be those of its steps. */
function addWorkflow({ workflows }: ReadMessages, record: Record<string, unknown>): void {
  const template = isObject(record.template) ? record.template : {}
  const [trigger] = Array.isArray(template.triggers) ? template.triggers : []
  const id = textOf(record._templateId ?? template._id)
  const identifier = textOf(record.templateIdentifier ?? (isObject(trigger) ? trigger.identifier : undefined)) || id
  if (identifier === '') return
  const embedded = Array.isArray(template.steps) ? template.steps.filter(isObject).map(({ _id }) => _id) : []
  const known = workflows.get(identifier) ?? { id, name: '', steps: new Set() }
  known.name ||= textOf(template.name)
  for (const step of [...embedded, record._messageTemplateId]) if (textOf(step)) known.steps.add(textOf(step))
  workflows.set(identifier, known)
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
