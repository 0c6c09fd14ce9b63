import { createHash } from 'node:crypto'
import { attempt, StartError } from '../../domain/errors.js'
import { exportMessage } from '../../seeds/export.js'
import type { SeedMessage, SeedStep, SeedWorkflow } from '../../seeds/format.js'
import { withContractNames } from '../contract-names.js'
import { stepPath } from '../paths.js'
import { type Answer, isObject, recordIn } from '../response-checks.js'
import type { Target } from '../target.js'
import { askFor, notAnObject, notAPage } from './asking.js'
import { inContract, MESSAGE, type Notes, note, STEP } from './contract.js'
import type { Names } from './names.js'

export interface ReadOptions {
  target: Target
  pageSize: number
  /** How many messages at most, the newest of them. */
  maximum: number
  /** How many bytes of them at most. */
  maxBytes: number
  notes: Notes
  names: Names
  onProgress(messages: number): void
}

/** What was read, as the target has it. */
export interface ReadMessages {
  /**
   * By id, each with what the list is sorted by, and as JSON, in which it has of a listed subscriber the `subscriberId`
   * alone; undefined for one that a seed can't have. JSON as a text would take more memory.
   */
  messages: Map<string, { place: string; json: Buffer } | undefined>
  /** JSON by subscriberId. */
  subscribers: Map<string, string>
  /** The workflows that messages name, by identifier, each with what may be the ids of its steps. */
  workflows: Map<string, { id: string; name: string; steps: Set<string> }>
  owner: { _environmentId?: string; _organizationId?: string }
  bytes: number
}

/** How often all pages are read, until none has a message that is new. */
const MAX_PASSES = 5

/**
 * Reads messages page by page, again and again until nothing new is found: those that come in or are removed meanwhile move
 * others to other pages. Rejects with `StartError` for a target whose pages never end.
 */
export async function readMessages(options: ReadOptions): Promise<ReadMessages> {
  const { notes, maxBytes } = options
  const read: ReadMessages = {
    messages: new Map(),
    subscribers: new Map(),
    workflows: new Map(),
    owner: {},
    bytes: 0
  }
  for (let [pass, known] = [0, -1]; read.messages.size > known && read.bytes <= maxBytes; pass++) {
    if (pass === MAX_PASSES) {
      note(notes, 'messages came and went while they were read: some may be missing')
      return read
    }
    known = read.messages.size
    await readPass(options, read)
  }
  if (read.bytes > maxBytes)
    note(
      notes,
      `only the newest ${read.messages.size} messages were read, which fill a seed of this format`
    )
  return read
}

async function readPass(options: ReadOptions, read: ReadMessages): Promise<void> {
  const { target, pageSize, maximum, maxBytes, onProgress } = options
  const seen = new Set<string>()
  let first: string | undefined
  for (let page = 0; seen.size < maximum; page++) {
    const { data, hasMore } = await askPage(target, page, pageSize)
    const keys = data.map(keyOf)
    if (keys.length > 0 && keys.every((key) => seen.has(key))) {
      // A page repeats those before it also when so many messages came in meanwhile: the first page then has these.
      const now = await askPage(target, 0, pageSize)
      if (now.data.map(keyOf)[0] === first)
        throw new StartError(
          `page ${page} of the target has only messages of the pages before: it can't be recorded`
        )
    }
    first ??= keys[0]
    for (const [index, key] of keys.entries()) {
      seen.add(key)
      if (!read.messages.has(key)) addMessage(options, read, key, data[index] ?? {})
    }
    onProgress(Math.min(read.messages.size, maximum))
    if (keys.length === 0 || !(hasMore ?? keys.length >= pageSize) || read.bytes > maxBytes) return
  }
}

async function askPage(
  target: Target,
  page: number,
  limit: number
): Promise<{ data: Answered[]; hasMore?: boolean }> {
  const path = `/v1/messages?page=${page}&limit=${limit}`
  const { status, body } = await askFor(target, path, notAPage)
  if (status === 200) return body as { data: Answered[] }
  throw new StartError(
    `${target.url}${path} answers ${status}: ${(body as Answered).message ?? ''}`
  )
}

function addMessage(
  { notes, names }: ReadOptions,
  read: ReadMessages,
  key: string,
  record: Answered
): void {
  const message = inContract<SeedMessage>(MESSAGE, exportMessage(record as never), notes)
  read.messages.set(key, undefined)
  if (!message) return
  const [_environmentId, _organizationId] = [
    textOf(record._environmentId),
    textOf(record._organizationId)
  ]
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
  const json = Buffer.from(
    JSON.stringify(isListed ? { ...message, subscriber: { subscriberId } } : message)
  )
  read.bytes += json.length
  read.messages.set(key, { place: `${createdAt} ${key}`, json })
}

function keyOf(record: Answered): string {
  const { _id } = record
  return typeof _id === 'string'
    ? _id
    : createHash('sha256').update(JSON.stringify(record)).digest('hex')
}

/** Notes the workflow that a message names, and all the ids that may be those of its steps. */
function addWorkflow({ workflows }: ReadMessages, record: Answered): void {
  const template = isObject(record.template) ? record.template : {}
  const [trigger] = objectsIn(template.triggers)
  const id = textOf(record._templateId ?? template._id)
  const identifier = textOf(record.templateIdentifier ?? trigger?.identifier) || id
  if (identifier === '') return
  const known = workflows.get(identifier) ?? { id, name: '', steps: new Set() }
  known.name ||= textOf(template.name)
  const steps = [...objectsIn(template.steps).map(({ _id }) => _id), record._messageTemplateId]
  for (const step of steps.map(textOf).filter(Boolean)) known.steps.add(step)
  workflows.set(identifier, known)
}

const objectsIn = (list: unknown) => (Array.isArray(list) ? list.filter(isObject) : [])
const textOf = (value: unknown) => (typeof value === 'string' ? value : '')

/** A step that the user names: `order-shipped/email-step`. */
export interface NamedStep {
  workflow: string
  step: string
}

type Answered = Record<string, unknown>
type AnsweredStep = Answered & Record<'workflowId' | 'workflowDatabaseId', string>

/**
 * Reads the steps of workflows: those that are named, those that messages name, and those that stand before them. Without
 * names of workflows, those of all that messages name. Returns the workflows with their steps.
 */
export async function readSteps(
  options: ReadOptions,
  { workflows: known }: ReadMessages,
  { workflows, steps: named }: { workflows: readonly string[]; steps: readonly NamedStep[] }
): Promise<SeedWorkflow[]> {
  const found = new Map<string, SeedWorkflow & { steps: SeedStep[] }>()
  const asked = workflows.length > 0 ? workflows : known.keys()
  for (const workflow of new Set([...asked, ...named.map((each) => each.workflow)])) {
    const own = named.filter((each) => each.workflow === workflow).map(({ step }) => step)
    const candidate = known.get(workflow) ?? [...known.values()].find(({ id }) => id === workflow)
    // It grows while it is iterated: the steps before a step are told by that.
    const steps = new Set([...own, ...(candidate?.steps ?? [])])
    if (steps.size === 0) {
      const remedy = `name its steps with --step ${workflow}/<stepId>`
      note(
        options.notes,
        `workflow ${workflow} has no steps here, as no message names one: ${remedy}`
      )
    }
    for (const step of steps) {
      const answered = await askStep(options, workflow, step)
      for (const earlier of answered ? addStep(answered, candidate?.name ?? '') : [])
        steps.add(earlier)
    }
  }
  for (const { steps } of found.values())
    steps.sort((one, two) => earlierSteps(one).length - earlierSteps(two).length)
  return [...found.values()].sort((one, two) =>
    (one.identifier ?? '') < (two.identifier ?? '') ? -1 : 1
  )

  /** Returns the steps before it. */
  function addStep(
    { workflowId, workflowDatabaseId, origin, ...fields }: AnsweredStep,
    name: string
  ): string[] {
    if (isObject(fields.controls) && 'values' in fields.controls) {
      delete fields.controls.values
      // Added to the answer: a step that has none does not have an empty one.
      const isAdded =
        Object.keys(fields).at(-1) === 'controlValues' &&
        JSON.stringify(fields.controlValues) === '{}'
      if (isAdded) delete fields.controlValues
    }
    const step = inContract<SeedStep>(STEP, fields, options.notes)
    if (!step) return []
    const identity = withContractNames({
      _id: workflowDatabaseId,
      identifier: workflowId,
      origin
    }) as SeedWorkflow
    const workflow = found.get(workflowDatabaseId) ?? {
      ...identity,
      ...(name && { name }),
      steps: []
    }
    found.set(workflowDatabaseId, workflow)
    const { steps } = workflow
    if (!steps.some(({ _id, stepId }) => _id === step._id && stepId === step.stepId))
      steps.push(step)
    options.names.addSchema([step.controls, step.variables])
    return earlierSteps(step)
  }
}

async function askStep(
  { target }: ReadOptions,
  workflow: string,
  step: string
): Promise<AnsweredStep | undefined> {
  const path = stepPath(workflow, step)
  // A 404 is an answer also as a page of a gateway.
  const ask = () =>
    askFor(target, path, (each) => (each.status === 404 ? undefined : notAnObject(each)))
  let answer = await ask()
  // Of a gateway, or of a service that has no such step: asking once more tells.
  if (answer.status === 200 && !stepIn(answer)) answer = await ask()
  if (answer.status !== 401 && answer.status !== 403) return stepIn(answer)
  throw new StartError(
    `${target.url}${path} answers ${answer.status}: the key may not read workflows`
  )
}

function stepIn(answer: Answer): AnsweredStep | undefined {
  const record = attempt(() => recordIn<AnsweredStep>(answer))
  return typeof record?.workflowId === 'string' && typeof record.workflowDatabaseId === 'string'
    ? record
    : undefined
}

/** The steps that a step's variables name: those before it in its workflow. */
function earlierSteps({ variables }: SeedStep): string[] {
  const { properties } = (variables ?? {}) as { properties?: { steps?: { properties?: object } } }
  return Object.keys(properties?.steps?.properties ?? {})
}
