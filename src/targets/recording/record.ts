import { constants } from 'node:fs'
import { access, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { ASSUMPTION_IDS, assume, overridesOf, type Profile } from '../../core/assumptions.js'
import { StartError } from '../../core/errors.js'
import { ID_PATTERN } from '../../core/ids.js'
import { VERSION } from '../../core/package.js'
import { replaceFile } from '../../core/replace-file.js'
import { SeedError } from '../../seeds/errors.js'
import { seedText } from '../../seeds/export.js'
import type { SeedEnvironment, SeedMessage, SeedSubscriber, SeedWorkflow } from '../../seeds/format.js'
import { FILE_LIMITS, formatLimit } from '../../seeds/limits.js'
import { readSeeds } from '../../seeds/read.js'
import { resolveSeeds } from '../../seeds/resolve/resolve.js'
import { nearestProfile } from '../positions.js'
import { createTarget, type TargetOptions } from '../target.js'
import { askFor, LONG_PATIENCE } from './asking.js'
import type { Notes } from './contract.js'
import { type ReadMessages, type ReadOptions, readMessages } from './messages.js'
import { detectPositions, noteUnknownStep, overridesIn, type Positions } from './positions.js'
import { createNames, createReplacement, type Replacement } from './replacement.js'
import { type NamedStep, readSteps } from './steps.js'

export interface RecordOptions extends TargetOptions {
  out: string
  workflows: readonly string[]
  steps: readonly NamedStep[]
  pageSize: number
  /** How many messages at most, the newest of them. */
  maximum: number
  keepPersonalData: boolean
  keepWorkflowTexts: boolean
  /** What the environment of the seed is called. */
  name: string
  /** In place of what is detected. */
  profile?: Profile | undefined
  assumptions: Record<string, string>
  onProgress(messages: number): void
}

export interface Recording {
  file: string
  messages: number
  subscribers: number
  workflows: number
  steps: number
  profile: Profile
  assumptions: Record<string, string>
  /** What a server with the seed answers otherwise than the target. */
  differences: string[]
}

/** How much of what a file may have is read: what replaces it may be longer. */
const SHARE = 0.75
/** How many messages are checked at a time, and how many characters are written. */
const CHUNK = 20
const BUFFER = 1024 * 1024

/**
 * Reads the messages and steps of a target and writes them as a seed, which has been checked. Rejects with `StartError` when
 * the target can't be read, the seed can't be written, or the signal is aborted; the file is then as it was.
 */
export async function record(options: RecordOptions): Promise<Recording> {
  const { out, apiKey, signal, keepPersonalData, keepWorkflowTexts } = options
  await access(dirname(out), constants.W_OK)
  const target = createTarget({ patience: LONG_PATIENCE, ...options })
  const { status } = await askFor(target, '/v1/messages?page=0&limit=1')
  if (status === 401) throw new StartError(`${target.url} refuses the key with 401: give one of its environment`)
  if (status !== 200) {
    throw new StartError(`${target.url}/v1/messages answers ${status}: is it the notification service?`)
  }
  const format = /\.json$/i.test(out) ? 'json' : 'yaml'
  const notes: Notes = new Map()
  const names = createNames()
  const positions = await detectPositions(target)
  const reading: ReadOptions = { ...options, target, maxBytes: SHARE * FILE_LIMITS[format], notes, positions, names }
  const read = await readMessages(reading)
  const { subscribers } = read
  const workflows = await readSteps(reading, read, options.workflows, options.steps)
  const [first] = workflows
  if (first) await noteUnknownStep(target, first.identifier ?? '', positions)
  const kept = keepPersonalData ? 'personal-data' : keepWorkflowTexts ? 'workflow-texts' : 'nothing'
  const replacement = createReplacement(apiKey, kept, names.keeps)
  const replaced = workflows.map((workflow) => replacedWorkflow(workflow, replacement))
  const chosen = newest(read, options.maximum)
  const { subscriber, message } = seedRecords(read, replacement)
  const settings = settingsOf(options, read, positions)
  checkSeed({ ...settings, workflows: replaced, subscribers: [...subscribers.keys()].map(subscriber) })
  for (let at = 0; at < chosen.length; at += CHUNK) {
    checkSeed({ ...settings, messages: chosen.slice(at, at + CHUNK).map((each) => message(each, true)) })
    await setImmediate()
    signal?.throwIfAborted()
  }
  const { profile, assumptions = {} } = settings
  const recording: Recording = {
    file: out,
    messages: chosen.length,
    subscribers: subscribers.size,
    workflows: replaced.length,
    steps: replaced.flatMap(({ steps }) => steps).length,
    profile,
    assumptions,
    differences: differencesOf(options, positions, profile, notes)
  }
  const comment = format === 'yaml' ? commentOf(options.url, recording) : ''
  const lists = {
    integrations: [],
    subscribers: each([...subscribers.keys()].sort(), subscriber),
    workflows: replaced,
    messages: each(chosen, (at) => message(at))
  }
  const pieces = inMegabytes(comment, seedText(settings, lists, format), FILE_LIMITS[format])
  // Personal data only for its owner.
  const mode = keepPersonalData ? 0o600 : 0o666
  await replaceFile(out, (tempFile) => writeFile(tempFile, pieces, { flag: 'wx', mode }))
  return recording
}

/** Returns where the messages are, in the order of the list. */
function newest({ messages, texts }: ReadMessages, maximum: number): number[] {
  const keys = [...messages].flatMap(([id, at]) => {
    if (at === undefined) return []
    const { createdAt = '' }: SeedMessage = JSON.parse(texts.get(at))
    return { key: `${createdAt} ${id}`, at }
  })
  keys.sort((one, two) => (one.key < two.key ? 1 : -1))
  return keys.slice(0, maximum).map(({ at }) => at)
}

/** Returns what makes records of a seed of what was read, one at a time. */
function seedRecords({ texts, subscribers }: ReadMessages, replacement: Replacement) {
  const listed = (subscriberId: string) => JSON.parse(subscribers.get(subscriberId) ?? '{}')
  return {
    subscriber(subscriberId: string): SeedSubscriber {
      const { subscriber } = replacement.message({ subscriber: listed(subscriberId) } as SeedMessage)
      return subscriber as SeedSubscriber
    },
    /** `isWhole` if it has the subscriber in it that it otherwise refers to. */
    message(at: number, isWhole = false): SeedMessage {
      const document: SeedMessage = JSON.parse(texts.get(at))
      const isListed = Object.keys(document.subscriber ?? {}).join() === 'subscriberId'
      if (isWhole && isListed) document.subscriber = listed(document.subscriber?.subscriberId ?? '')
      const { subscriber, ...rest } = replacement.message(document)
      if (!isListed || isWhole) return { ...rest, ...(subscriber && { subscriber }) }
      return { ...(subscriber && { subscriberId: subscriber.subscriberId }), ...rest }
    }
  }
}

function* each<From, To>(items: Iterable<From>, change: (item: From) => To): Generator<To, void> {
  for (const item of items) yield change(item)
}

function replacedWorkflow({ name, steps = [], ...workflow }: SeedWorkflow, { workflowName, step }: Replacement) {
  return { ...workflow, ...(name && { name: workflowName(name) }), steps: steps.map(step) }
}

/** Throws `StartError` when no server would start with the seed. */
function checkSeed(environment: SeedEnvironment): void {
  try {
    resolveSeeds(readSeeds([{ name: 'seed', seed: { environments: [environment] } }]), Date.now())
  } catch (error) {
    if (!(error instanceof SeedError)) throw error
    throw new StartError(`nothing is written, as the seed that was made is none:\n${error.message}`)
  }
}

function settingsOf(options: RecordOptions, { owner }: ReadMessages, positions: Positions) {
  const { name, profile: wanted, assumptions: given } = options
  const profile = wanted ?? nearestProfile(Object.values(positions))
  const assumptions = overridesOf(profile, assume(profile, overridesIn(positions), given))
  const { _environmentId: _id, _organizationId } = owner
  return {
    ...(isId(_id) && { _id }),
    name,
    ...(isId(_organizationId) && { _organizationId }),
    profile,
    ...(Object.keys(assumptions).length > 0 && { assumptions })
  }
}

function isId(value: unknown): value is string {
  return typeof value === 'string' && ID_PATTERN.test(value)
}

function differencesOf(options: RecordOptions, positions: Positions, profile: Profile, notes: Notes): string[] {
  const unknown = ASSUMPTION_IDS.filter((id) => positions[id] === undefined && !(id in options.assumptions))
  const texts = options.keepWorkflowTexts ? '' : 'texts of workflows, '
  return [
    'integrations are missing: none of the operations lists them; add those that set-primary shall find',
    ...(unknown.length > 0 ? [`${unknown.join(', ')}: not to be seen by reading, as in the profile ${profile}`] : []),
    options.keepPersonalData
      ? 'credentials, keys and addresses of webhooks are replaced'
      : `personal data is replaced: ${texts}all but words of the contract, numbers, flags, times and ids of records`,
    ...[...notes].map(([text, count]) => (count === 1 ? text : `${text} (${count} times)`))
  ]
}

/** Lines about the seed. A name that the target has in them must not end one. */
function commentOf(url: string, { messages, steps, differences }: Recording): string {
  const lines = [
    `Recorded by notification-mock ${VERSION} from ${url}: ${messages} messages, ${steps} steps.`,
    'A server with this seed gives the same answers, apart from:',
    ...differences.map((line) => `- ${line}`)
  ]
  return lines.map((line) => `# ${line.replaceAll(/\p{Cc}/gu, ' ')}\n`).join('')
}

/** Yields a text in larger pieces. Throws `StartError` when it is too long for a seed. */
function* inMegabytes(comment: string, pieces: Iterable<string>, most: number): Generator<string, void> {
  let buffered = comment
  let length = 0
  for (const piece of pieces) {
    buffered += piece
    length += piece.length
    if (length > most) throw new StartError(`the seed has more than ${formatLimit(most)}: record fewer --messages`)
    if (buffered.length < BUFFER) continue
    yield buffered
    buffered = ''
  }
  yield buffered
}
