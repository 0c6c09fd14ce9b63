import { createHash } from 'node:crypto'
import { StartError } from '../../core/errors.js'
import { exportMessage } from '../../seeds/export.js'
import type { SeedMessage } from '../../seeds/format.js'
import { isObject } from '../answers.js'
import type { Target } from '../target.js'
import { askFor, notAPage } from './asking.js'
import { inContract, MESSAGE, note } from './contract.js'
import type { Replacement } from './personal.js'
import { noteVendorNames } from './positions.js'
import type { Progress, ReadMessage } from './progress.js'

export interface ReadOptions {
  target: Target
  progress: Progress
  replacement: Replacement
  pageSize: number
  /** How many messages at most, the newest of them. */
  maximum: number
  onProgress(messages: number): void
}

interface Page {
  data: Record<string, unknown>[]
  hasMore?: boolean
}

/** How often messages that came in meanwhile are looked for. */
const MAX_LOOKS = 20
/** How often a gap is filled that messages which were removed meanwhile have left. */
const MAX_GAPS = 100

/**
 * Reads messages page by page into the progress, also over several runs. Messages that come in meanwhile move those that
 * were read to later pages: what is read again is known by its id. The new ones are read at the end, from the first page
 * on until one of the known ones comes. Messages that are removed meanwhile move others to earlier pages: a page begins
 * with a message that is known, or comes after one, and when it does not, those before it are read again.
 */
export async function readMessages(options: ReadOptions): Promise<void> {
  const { progress, pageSize, maximum, onProgress } = options
  const { state } = progress
  let last: string | undefined
  while (!state.isComplete) {
    const { page, limit } = pageAfter(state.read, pageSize)
    const { data, hasMore } = await askPage(options, page, limit)
    const [first] = data.map(keyOf)
    if (page > 0 && data.length > 1 && first === last) await checkPages(options, page, first)
    last = first
    const from = page * limit
    const isGap = from > 0 && state.gaps < MAX_GAPS && !(await followsKnown(from, first))
    progress.save(() => {
      addPage(options, data, !isGap)
      if (isGap) {
        state.gaps += 1
        state.read = Math.max(0, from - Math.ceil(pageSize / 2))
        // What is found there may be newer.
        delete state.last
      } else {
        state.read = from + limit
        state.isComplete = data.length === 0 || !(hasMore ?? data.length >= limit)
      }
      if (progress.messageCount() >= maximum) state.isComplete = true
    })
    onProgress(Math.min(progress.messageCount(), maximum))
  }
  if (state.gaps >= MAX_GAPS) note(progress.notes, 'messages were removed while they were read: some may be missing')
  await readNewest(options)

  /** Where the page begins with the next message, the one before it is asked for: afterwards, when the page can't move any more. */
  async function followsKnown(from: number, first: string | undefined): Promise<boolean> {
    const known = from < state.read ? first : (await askPage(options, from - 1, 1)).data.map(keyOf)[0]
    return known !== undefined && progress.hasMessage(known)
  }
}

/**
 * Returns the page that begins with messages that were read and has the most others, with up to `pageSize`. If they would
 * be few, as of small pages, it is one that begins with the next message.
 */
function pageAfter(read: number, pageSize: number): { page: number; limit: number } {
  let best = { page: 0, limit: pageSize }
  let most = 0
  for (let limit = pageSize; read > 0 && limit > most; limit--) {
    const page = Math.floor((read - 1) / limit)
    const added = (page + 1) * limit - read
    if (added <= most) continue
    best = { page, limit }
    most = added
  }
  if (read === 0 || most * 2 >= pageSize) return best
  for (let limit = pageSize; limit > most; limit--) {
    if (read % limit === 0) return { page: read / limit, limit }
  }
  return best
}

/** A page is as the one before also when a page of messages came in meanwhile: the first page then has those. */
async function checkPages(options: ReadOptions, page: number, first: string | undefined): Promise<void> {
  const { data } = await askPage(options, 0, options.pageSize)
  if (data.map(keyOf)[0] !== first) return
  throw new StartError(`page ${page} of the target has the messages of the first page: it can't be recorded`)
}

/**
 * Each look reads from the first page on until a message comes that was known before it. One that was interrupted is not
 * whole, and goes on until then, over what it has itself read.
 */
async function readNewest(options: ReadOptions): Promise<void> {
  const { progress, pageSize } = options
  const { state } = progress
  for (let looks = 0; looks < MAX_LOOKS; looks++) {
    if (!state.isLooking) {
      // Not a page that was read: that is asked for only if there is something new on it.
      const [newest] = (await askPage(options, 0, 1)).data
      if (!newest || progress.hasMessage(keyOf(newest))) return
      progress.save(() => {
        state.look += 1
        state.isLooking = true
      })
    }
    for (let page = 0; state.isLooking; page++) {
      const { data } = await askPage(options, page, pageSize)
      progress.save(() => {
        state.isLooking = data.length > 0 && !data.some((each) => progress.hasMessage(keyOf(each), state.look))
        addPage(options, data, false)
      })
    }
  }
  note(progress.notes, 'messages came in faster than they could be read: the newest may be missing')
}

async function askPage({ target }: ReadOptions, page: number, limit: number): Promise<Page> {
  const path = `/v1/messages?page=${page}&limit=${limit}`
  const { status, body } = await askFor(target, path, notAPage)
  if (status === 200) return body as unknown as Page
  const { message } = body as { message?: unknown }
  throw new StartError(`${target.url}${path} answers ${status}${typeof message === 'string' ? `: ${message}` : ''}`)
}

/** Adds what is not known yet: in order, up to the maximum. */
function addPage({ progress, replacement, maximum }: ReadOptions, data: Page['data'], inOrder: boolean): void {
  const { state, notes } = progress
  let left = inOrder ? maximum - progress.messageCount() : data.length
  for (const record of data) {
    if (left <= 0) return
    const key = keyOf(record)
    if (progress.hasMessage(key)) continue
    const { _environmentId, _organizationId, createdAt, _id } = record as Record<string, string | undefined>
    state.owner ??= { ...(_environmentId && { _environmentId }), ...(_organizationId && { _organizationId }) }
    state.positions ??= {}
    noteVendorNames(record, state.positions)
    if (inOrder) noteOrder(progress, [createdAt ?? '', _id ?? ''])
    addCandidates(progress, record, replacement)
    const document = inContract<SeedMessage>(MESSAGE, exportMessage(record as never), notes)
    progress.addMessage({ key, document: document && replacement.message(document) } satisfies ReadMessage)
    if (document) left -= 1
  }
}

/** Ours lists the newest first, of one instant the greatest id first. */
function noteOrder({ state, notes }: Progress, next: [string, string]): void {
  const [created, id] = state.last ?? next
  const isLater = next[0] > created || (next[0] === created && next[1] > id)
  if (isLater) note(notes, 'message is listed at another place: the seed lists the newest first, then by id')
  state.last = next
}

function keyOf(record: Record<string, unknown>): string {
  const { _id } = record
  return typeof _id === 'string' ? _id : createHash('sha256').update(JSON.stringify(record)).digest('hex')
}

/** Notes the steps that a message names, by all the ids that may be theirs. */
function addCandidates(progress: Progress, record: Record<string, unknown>, replacement: Replacement): void {
  const template = isObject(record.template) ? record.template : {}
  const [trigger] = Array.isArray(template.triggers) ? template.triggers : []
  const identifier = isObject(trigger) ? trigger.identifier : undefined
  const workflowId = textOf(record._templateId ?? template._id)
  const workflow = textOf(record.templateIdentifier ?? identifier) || workflowId
  if (workflow === '') return
  const name = textOf(template.name) && replacement.workflowName(textOf(template.name))
  const embedded = Array.isArray(template.steps) ? template.steps.filter(isObject).map(({ _id }) => _id) : []
  for (const step of new Set([...embedded, record._messageTemplateId].map(textOf))) {
    if (step !== '') progress.addCandidate({ workflow, workflowId, name, step })
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
