import { createWriteStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { ASSUMPTION_IDS, assume, overridesOf, type Profile } from '../../domain/assumptions.js'
import { countOf } from '../../domain/count.js'
import { StartError } from '../../domain/errors.js'
import { ID_PATTERN } from '../../domain/ids.js'
import { requireWritable } from '../../platform/output-file.js'
import { VERSION } from '../../platform/package.js'
import { replaceFile } from '../../platform/replace-file.js'
import { SeedError } from '../../seeds/errors.js'
import { seedText } from '../../seeds/export.js'
import type {
  SeedEnvironment,
  SeedMessage,
  SeedStep,
  SeedSubscriber,
  SeedWorkflow
} from '../../seeds/format.js'
import { FILE_LIMITS, formatLimit } from '../../seeds/limits.js'
import { readSeeds } from '../../seeds/read.js'
import { resolveSeeds } from '../../seeds/resolve/resolve.js'
import {
  LONG_PATIENCE,
  objectProblem,
  pageProblem,
  requestUntilUsable
} from '../patient-requests.js'
import {
  type DetectedProfiles,
  detectProfiles,
  nearestProfile,
  valuesOfProfiles
} from '../probes/index.js'
import type { RequestOptions, TargetResponse } from '../response-checks.js'
import { createServiceUnderTest, type ServiceUnderTest } from '../service-under-test.js'
import { Target, type TargetOptions } from '../target.js'
import { KeptFieldNames } from './kept-field-names.js'
import { type Kept, PersonalDataReplacement } from './personal-data.js'
import {
  type ReadMessage,
  type ReadMessages,
  type ReadOptions,
  readMessages
} from './read-messages.js'
import { type NamedStep, readSteps } from './read-steps.js'
import { SeedDeviations } from './seed-record.js'

export interface RecordOptions
  extends TargetOptions,
    Pick<ReadOptions, 'pageSize' | 'maximum' | 'onProgress'> {
  /** The seed file to write. */
  out: string
  workflows: readonly string[]
  steps: readonly NamedStep[]
  keepPersonalData: boolean
  keepWorkflowTexts: boolean
  /** The name of the environment in the seed. */
  name: string
  /** Overrides the detected profile. */
  profile?: Profile | undefined
  /** Values of assumptions, by the assumption's id. They override the detected values. */
  assumptions: Record<string, string>
}

export interface Recording {
  file: string
  messages: number
  subscribers: number
  workflows: number
  steps: number
  profile: Profile
  assumptions: Record<string, string>
  /** How the responses of a server with this seed differ from the target's responses. */
  differences: string[]
}

/**
 * The maximum amount of data to read, as a share of the maximum file size. It is less than 1,
 * because replacements can be longer than the personal data that they replace.
 */
const READ_SHARE = 0.75
/** How many messages to check at a time. */
const CHUNK_SIZE = 20
/** How many bytes to buffer before writing. */
const WRITE_BUFFER = 1024 * 1024

/**
 * Reads the messages and steps of a target, checks them and writes them as a seed. Throws
 * `StartError` and leaves an existing file unchanged if reading or writing fails or the signal is
 * aborted.
 */
export async function recordService(options: RecordOptions): Promise<Recording> {
  const { out, signal, keepPersonalData } = options
  requireWritable(out)
  const target = new Target({ patience: LONG_PATIENCE, ...options })
  await checkTarget(target)
  const seed = await readSeed(target, options)
  await replaceFile(out, (tempFile) => {
    // Only the owner may read a file with personal data.
    const mode = keepPersonalData ? 0o600 : 0o666
    const file = createWriteStream(tempFile, { flags: 'wx', mode, highWaterMark: WRITE_BUFFER })
    return pipeline(seed.pieces(), file, signal ? { signal } : {})
  })
  return seed.recording
}

/** Throws `StartError` unless the target lists messages and accepts the key. */
async function checkTarget(target: Target): Promise<void> {
  const { status } = await requestUntilUsable(target, '/v1/messages?page=0&limit=1')
  if (status === 401)
    throw new StartError(`${target.url} rejects the key with 401; check --api-key`)
  if (status !== 200) {
    const problem = `${target.url}/v1/messages returned ${status}`
    throw new StartError(`${problem}: check that this server provides Novu's API`)
  }
}

/**
 * Reads the target's records, and replaces personal data in the workflows and subscribers.
 * `RecordedSeed` replaces it in the messages when it writes them.
 */
async function readSeed(target: Target, options: RecordOptions): Promise<RecordedSeed> {
  const { apiKey, maximum } = options
  const deviations = new SeedDeviations()
  const names = new KeptFieldNames()
  const maxBytes = READ_SHARE * FILE_LIMITS[formatOf(options.out)]
  const readOptions: ReadOptions = { ...options, target, maxBytes, deviations, names }
  const read = await readMessages(readOptions)
  const readWorkflows = await readSteps(readOptions, read, options)
  const detected = await detectProfiles(detectableService(target, readWorkflows[0]))
  const settings = environmentSettings(options, read, detected)
  const replacement = new PersonalDataReplacement(apiKey, keptOf(options), (name) =>
    names.keeps(name)
  )
  const subscribers = [...read.subscribers]
    .sort()
    .map(([, json]) => replaceSubscriber(json, replacement))
  const readable = [...read.messages.values()].filter((message) => message !== undefined)
  const newest = readable.sort((one, two) => (one.sortKey < two.sortKey ? 1 : -1)).slice(0, maximum)
  return new RecordedSeed({
    options,
    settings,
    workflows: readWorkflows.map((workflow) => replacement.workflow(workflow)),
    subscribers: new Map(
      subscribers.map((subscriber) => [subscriber.subscriberId, subscriber] as const)
    ),
    messages: newest,
    replacement,
    differences: describeDifferences(options, detected, settings.profile, deviations)
  })
}

const formatOf = (file: string) => (/\.json$/i.test(file) ? 'json' : 'yaml')

function keptOf({ keepPersonalData, keepWorkflowTexts }: RecordOptions): Kept {
  if (keepPersonalData) return 'personal-data'
  return keepWorkflowTexts ? 'workflow-texts' : 'nothing'
}

type EnvironmentSettings = ReturnType<typeof environmentSettings>

interface SeedContent {
  options: RecordOptions
  settings: EnvironmentSettings
  workflows: (SeedWorkflow & { steps: SeedStep[] })[]
  subscribers: ReadonlyMap<string, SeedSubscriber>
  /** The messages, newest first, before personal data is replaced. */
  messages: readonly ReadMessage[]
  replacement: PersonalDataReplacement
  differences: string[]
}

/**
 * A seed that is written in pieces. Its whole text would need too much memory, because it would
 * hold a second copy of all messages.
 */
class RecordedSeed {
  readonly recording: Recording
  readonly #content: SeedContent

  constructor(content: SeedContent) {
    const { options, settings, workflows, subscribers, messages, differences } = content
    this.#content = content
    this.recording = {
      file: options.out,
      messages: messages.length,
      subscribers: subscribers.size,
      workflows: workflows.length,
      steps: workflows.flatMap(({ steps }) => steps).length,
      profile: settings.profile,
      assumptions: settings.assumptions ?? {},
      differences
    }
  }

  /** Yields the text of the seed. Throws `StartError` if the seed isn't valid or is too long. */
  *pieces(): Generator<string, void> {
    const { options, settings, workflows, subscribers } = this.#content
    const format = formatOf(options.out)
    checkSeed({ ...settings, workflows, subscribers: [...subscribers.values()] })
    if (format === 'yaml') yield commentOf(options.url, this.recording)
    const lists = {
      integrations: [],
      subscribers: subscribers.values(),
      workflows,
      messages: this.#messages()
    }
    yield* limitLength(seedText(settings, lists, format), FILE_LIMITS[format])
  }

  *#messages(): Generator<SeedMessage, void> {
    const { settings, subscribers, messages, replacement } = this.#content
    for (let start = 0; start < messages.length; start += CHUNK_SIZE) {
      const chunk = messages
        .slice(start, start + CHUNK_SIZE)
        .map(({ json }) => replaceMessage(JSON.parse(json.toString()), replacement))
      const named = chunk.flatMap(({ subscriberId = '' }) => subscribers.get(subscriberId) ?? [])
      checkSeed({ ...settings, subscribers: [...new Set(named)], messages: chunk })
      yield* chunk
    }
  }
}

type DetectableWorkflow = { identifier?: string; steps?: { stepId?: string }[] }
/**
 * A workflow that doesn't exist. If no step was read, the probes request this workflow instead of
 * searching the target for steps.
 */
const NO_WORKFLOW: DetectableWorkflow = { identifier: 'none', steps: [{ stepId: 'none' }] }

/** Wraps the target for the probes, so that they request only the steps of the workflow. */
function detectableService(
  target: Target,
  { identifier = '', steps = [] }: DetectableWorkflow = NO_WORKFLOW
): ServiceUnderTest {
  const findProblem = (response: TargetResponse) =>
    response.path.startsWith('/v1/messages') ? pageProblem(response) : objectProblem(response)
  const patientTarget = {
    send: (path: string, options: RequestOptions = {}) =>
      target.send(path, { ...options, findProblem, maxAttempts: 2 }),
    sendWithRetries: (path: string, options: RequestOptions) =>
      target.sendWithRetries(path, options)
  }
  return createServiceUnderTest(patientTarget, {
    workflows: [identifier],
    steps: steps.flatMap(({ stepId }) => stepId ?? []),
    allowChanges: false,
    integrations: []
  })
}

function replaceSubscriber(json: string, replacement: PersonalDataReplacement): SeedSubscriber {
  const message = { subscriber: JSON.parse(json) } as SeedMessage
  const { subscriber } = replacement.message(message) as { subscriber: SeedSubscriber }
  return subscriber
}

function replaceMessage(message: SeedMessage, replacement: PersonalDataReplacement): SeedMessage {
  const { subscriber, ...fields } = replacement.message(message)
  if (!subscriber) return fields
  const isListed = Object.keys(message.subscriber ?? {}).join() === 'subscriberId'
  return isListed ? { subscriberId: subscriber.subscriberId, ...fields } : { ...fields, subscriber }
}

/** Throws `StartError` if a server can't start with the seed. */
function checkSeed(environment: SeedEnvironment): void {
  try {
    resolveSeeds(readSeeds([{ name: 'seed', seed: { environments: [environment] } }]), Date.now())
  } catch (error) {
    if (!(error instanceof SeedError)) throw error
    throw new StartError(`the recorded seed is not valid, so it was not written:\n${error.message}`)
  }
}

function environmentSettings(
  options: RecordOptions,
  { owner }: ReadMessages,
  detected: DetectedProfiles
) {
  const { name, profile = nearestProfile(Object.values(detected)) } = options
  const detectedValues = valuesOfProfiles(detected)
  const assumptions = overridesOf(profile, assume(profile, detectedValues, options.assumptions))
  const { _environmentId: _id = '', _organizationId = '' } = owner
  return {
    ...(ID_PATTERN.test(_id) && { _id }),
    name,
    ...(ID_PATTERN.test(_organizationId) && { _organizationId }),
    profile,
    ...(Object.keys(assumptions).length > 0 && { assumptions })
  }
}

/** Returns a line for each way in which a server with the seed differs from the target. */
function describeDifferences(
  options: RecordOptions,
  detected: DetectedProfiles,
  profile: Profile,
  deviations: SeedDeviations
): string[] {
  const lines = [
    'the seed has no integrations, because no operation lists them; add the integrations that ' +
      'your set-primary requests name'
  ]
  const unknown = ASSUMPTION_IDS.filter(
    (id) => detected[id] === undefined && !(id in options.assumptions)
  )
  if (unknown.length > 0)
    lines.push(
      `assumptions that could not be detected have the values of the profile ${profile}: ` +
        unknown.join(', ')
    )
  lines.push(replacementLine(options), ...deviations.lines())
  return lines
}

function replacementLine({ keepPersonalData, keepWorkflowTexts }: RecordOptions): string {
  if (keepPersonalData) return 'credentials, keys and webhook URLs are replaced'
  const kept = 'enum values, numbers, booleans, timestamps, ids and identifiers'
  return keepWorkflowTexts
    ? `personal data is replaced; only the texts of workflows, ${kept} are kept`
    : `personal data and the texts of workflows are replaced; only ${kept} are kept`
}

/** Returns YAML comments. Replaces control characters, because a line break would end a comment. */
function commentOf(url: string, { messages, steps, differences }: Recording): string {
  const counts = `${countOf(messages, 'message')}, ${countOf(steps, 'step')}`
  const lines = [
    `Recorded by notification-mock ${VERSION} from ${url}: ${counts}.`,
    'A server with this seed returns the same responses, except:',
    ...differences.map((difference) => `- ${difference}`)
  ]
  return lines.map((line) => `# ${line.replaceAll(/\p{Cc}/gu, ' ')}\n`).join('')
}

/**
 * Yields the pieces. Throws `StartError` if all pieces together have more than `most` characters.
 */
function* limitLength(pieces: Iterable<string>, most: number): Generator<string, void> {
  let length = 0
  for (const piece of pieces) {
    length += piece.length
    if (length > most) {
      const limit = formatLimit(most)
      throw new StartError(`the seed is larger than ${limit}; set a lower number with --messages`)
    }
    yield piece
  }
}
