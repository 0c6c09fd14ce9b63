import { constants, createWriteStream } from 'node:fs'
import { access } from 'node:fs/promises'
import { dirname } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { ASSUMPTION_IDS, assume, overridesOf, type Profile } from '../../domain/assumptions.js'
import { StartError } from '../../domain/errors.js'
import { ID_PATTERN } from '../../domain/ids.js'
import { VERSION } from '../../platform/package.js'
import { replaceFile } from '../../platform/replace-file.js'
import { SeedError } from '../../seeds/errors.js'
import { seedText } from '../../seeds/export.js'
import type { SeedEnvironment, SeedMessage, SeedSubscriber } from '../../seeds/format.js'
import { FILE_LIMITS, formatLimit } from '../../seeds/limits.js'
import { readSeeds } from '../../seeds/read.js'
import { resolveSeeds } from '../../seeds/resolve/resolve.js'
import { namesOf, nearestProfile, type Positions, readPositions } from '../probes.js'
import type { Answer, Ask } from '../response-checks.js'
import { createSubject, type Subject } from '../service-under-test.js'
import { createTarget, type Target, type TargetOptions } from '../target.js'
import { askFor, LONG_PATIENCE, notAnObject, notAPage } from './asking.js'
import type { Notes } from './contract.js'
import { createNames } from './names.js'
import {
  type NamedStep,
  type ReadMessages,
  type ReadOptions,
  readMessages,
  readSteps
} from './reading.js'
import { createReplacement, type Replacement } from './replacement.js'

export interface RecordOptions
  extends TargetOptions,
    Pick<ReadOptions, 'pageSize' | 'maximum' | 'onProgress'> {
  out: string
  workflows: readonly string[]
  steps: readonly NamedStep[]
  keepPersonalData: boolean
  keepWorkflowTexts: boolean
  /** What the environment of the seed is called. */
  name: string
  /** In place of what is detected. */
  profile?: Profile | undefined
  assumptions: Record<string, string>
}

export type Recording = Awaited<ReturnType<typeof record>>

/** How much of what a file may have is read: what replaces it may be longer. */
const SHARE = 0.75
/** How many messages are checked at a time, and how many bytes wait to be written. */
const CHUNK = 20
const BUFFER = 1024 * 1024

/**
 * Reads the messages and steps of a target and writes them as a seed, which has been checked. Rejects with `StartError` when
 * the target can't be read, the seed can't be written, or the signal is aborted; the file is then as it was.
 */
export async function record(options: RecordOptions) {
  const { out, apiKey, url, maximum, signal, keepPersonalData } = options
  await access(dirname(out), constants.W_OK)
  const target = createTarget({ patience: LONG_PATIENCE, ...options })
  const { status } = await askFor(target, '/v1/messages?page=0&limit=1')
  if (status === 401)
    throw new StartError(`${url} refuses the key with 401: give one of its environment`)
  if (status !== 200)
    throw new StartError(`${url}/v1/messages answers ${status}: is it the notification service?`)
  const format = /\.json$/i.test(out) ? 'json' : 'yaml'
  const notes: Notes = new Map()
  const names = createNames()
  const reading: ReadOptions = {
    ...options,
    target,
    maxBytes: SHARE * FILE_LIMITS[format],
    notes,
    names
  }
  const read = await readMessages(reading)
  const found = await readSteps(reading, read, options)
  const positions = await readPositions(subjectOf(target, found[0] ?? NO_WORKFLOW))
  const settings = settingsOf(options, read, positions)
  const kept = keepPersonalData
    ? 'personal-data'
    : options.keepWorkflowTexts
      ? 'workflow-texts'
      : 'nothing'
  const replacement = createReplacement(apiKey, kept, names.keeps)
  const workflows = found.map(replacement.workflow)
  const people = new Map(
    [...read.subscribers].sort().map(([, json]) => personOf(json, replacement))
  )
  // The newest, in the order of the list.
  const all = [...read.messages.values()].filter((each) => each !== undefined)
  const chosen = all.sort((one, two) => (one.place < two.place ? 1 : -1)).slice(0, maximum)
  const { profile, assumptions = {} } = settings
  const recording = {
    file: out,
    messages: chosen.length,
    subscribers: people.size,
    workflows: workflows.length,
    steps: workflows.flatMap(({ steps }) => steps).length,
    profile,
    assumptions,
    /** What a server with the seed answers otherwise than the target. */
    differences: differencesOf(options, positions, profile, notes)
  }
  const lists = { integrations: [], subscribers: people.values(), workflows, messages: messages() }
  await replaceFile(out, (tempFile) => {
    // Personal data only for its owner.
    const mode = keepPersonalData ? 0o600 : 0o666
    const file = createWriteStream(tempFile, { flags: 'wx', mode, highWaterMark: BUFFER })
    return pipeline(pieces(), file, signal ? { signal } : {})
  })
  return recording

  function* pieces(): Generator<string, void> {
    checkSeed({ ...settings, workflows, subscribers: [...people.values()] })
    if (format === 'yaml') yield commentOf(url, recording)
    yield* limited(seedText(settings, lists, format), FILE_LIMITS[format])
  }

  function* messages(): Generator<SeedMessage, void> {
    for (let at = 0; at < chosen.length; at += CHUNK) {
      const made = chosen
        .slice(at, at + CHUNK)
        .map(({ json }) => seedMessage(JSON.parse(json.toString()), replacement))
      const named = new Set(made.flatMap(({ subscriberId = '' }) => people.get(subscriberId) ?? []))
      checkSeed({ ...settings, subscribers: [...named], messages: made })
      yield* made
    }
  }
}

type NamedWorkflow = { identifier?: string; steps?: { stepId?: string }[] }
/** By what no step is found, which is not looked for again where none was read. */
const NO_WORKFLOW: NamedWorkflow = { identifier: 'none', steps: [{ stepId: 'none' }] }

/** What tells the positions of a target by reading it, with the steps of a workflow. */
function subjectOf(target: Target, { identifier = '', steps = [] }: NamedWorkflow): Subject {
  const check = (answer: Answer) =>
    (/^\/v1\/messages/.test(answer.path) ? notAPage : notAnObject)(answer)
  const ask = (path: string, request: Ask = {}) => target.ask(path, { ...request, check, tries: 2 })
  const names = { workflows: [identifier], steps: steps.flatMap(({ stepId }) => stepId ?? []) }
  return createSubject({ ...target, ask }, { ...names, allowChanges: false, integrations: [] })
}

function personOf(json: string, { message }: Replacement): [subscriberId: string, SeedSubscriber] {
  const { subscriber } = message({ subscriber: JSON.parse(json) } as SeedMessage) as {
    subscriber: SeedSubscriber
  }
  return [subscriber.subscriberId, subscriber]
}

function seedMessage(document: SeedMessage, { message }: Replacement): SeedMessage {
  const { subscriber, ...rest } = message(document)
  const isListed = Object.keys(document.subscriber ?? {}).join() === 'subscriberId'
  if (isListed) return { ...(subscriber && { subscriberId: subscriber.subscriberId }), ...rest }
  return { ...rest, ...(subscriber && { subscriber }) }
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
  const { name, profile = nearestProfile(Object.values(positions)), assumptions: given } = options
  const assumptions = overridesOf(profile, assume(profile, namesOf(positions), given))
  const { _environmentId: _id = '', _organizationId = '' } = owner
  return {
    ...(ID_PATTERN.test(_id) && { _id }),
    name,
    ...(ID_PATTERN.test(_organizationId) && { _organizationId }),
    profile,
    ...(Object.keys(assumptions).length > 0 && { assumptions })
  }
}

function differencesOf(
  options: RecordOptions,
  positions: Positions,
  profile: Profile,
  notes: Notes
): string[] {
  const unknown = ASSUMPTION_IDS.filter(
    (id) => positions[id] === undefined && !(id in options.assumptions)
  )
  const texts = options.keepWorkflowTexts ? '' : 'texts of workflows, '
  return [
    'integrations are missing: none of the operations lists them; add those that set-primary shall find',
    ...(unknown.length > 0
      ? [`${unknown.join(', ')}: not to be seen by reading, as in the profile ${profile}`]
      : []),
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

/** Throws `StartError` when a text is too long for a seed. */
function* limited(pieces: Iterable<string>, most: number): Generator<string, void> {
  let length = 0
  for (const piece of pieces) {
    length += piece.length
    if (length > most)
      throw new StartError(`the seed has more than ${formatLimit(most)}: record fewer --messages`)
    yield piece
  }
}
