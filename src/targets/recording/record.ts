import { ASSUMPTION_IDS, assume, overridesOf, type Profile } from '../../core/assumptions.js'
import { attempt, StartError } from '../../core/errors.js'
import { ID_PATTERN } from '../../core/ids.js'
import { VERSION } from '../../core/package.js'
import { nearestProfile } from '../positions.js'
import { createTarget, type Target, type TargetOptions } from '../target.js'
import { askFor, LONG_PATIENCE } from './asking.js'
import { personalDataReplacement, secretsReplacement } from './personal.js'
import { detectPositions, noteUnknownStep, overridesIn } from './positions.js'
import { openProgress, type Progress } from './progress.js'
import { readMessages } from './read.js'
import { type NamedStep, readSteps } from './read-steps.js'
import { createReplacer } from './replace.js'
import { writeSeed } from './write.js'

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
  files: string[]
  messages: number
  subscribers: number
  workflows: number
  steps: number
  profile: Profile
  assumptions: Record<string, string>
  /** What a server with the seed answers otherwise than the target. */
  differences: string[]
}

/**
 * Reads the messages and steps of a target and writes them as a seed. What was read is kept beside the seed until that is
 * written, so that an interrupted recording goes on where it was. Rejects with `StartError` when the target can't be
 * read, and with the reason of the signal when that is aborted.
 */
export async function record(options: RecordOptions): Promise<Recording> {
  const { out, signal, apiKey, keepPersonalData, keepWorkflowTexts, pageSize, maximum } = options
  const target = createTarget({ patience: LONG_PATIENCE, ...options })
  await checkAccess(target)
  const { url } = options
  const identity = { url, apiKey, pageSize, maximum, keepPersonalData, keepWorkflowTexts }
  const progress = openProgress(`${out}.progress`, identity)
  try {
    const replacer = createReplacer(apiKey)
    const replacement = keepPersonalData
      ? secretsReplacement(replacer)
      : personalDataReplacement(replacer, keepWorkflowTexts)
    const reading = { ...options, target, progress, replacement }
    if (!progress.state.positions) {
      const positions = await detectPositions(target)
      progress.save(() => {
        progress.state.positions = positions
      })
    }
    await readMessages(reading)
    await readSteps(reading, options.workflows, options.steps)
    for (const workflow of progress.seedWorkflows()) {
      await noteUnknownStep(target, workflow.identifier ?? '', progress.state.positions ?? {})
      break
    }
    return await writeRecording(options, progress, () => signal?.throwIfAborted())
  } finally {
    attempt(progress.close)
  }
}

async function checkAccess(target: Target): Promise<void> {
  const { status } = await askFor(target, '/v1/messages?page=0&limit=1')
  if (status === 401) throw new StartError(`${target.url} refuses the key with 401: give one of its environment`)
  if (status !== 200)
    throw new StartError(`${target.url}/v1/messages answers ${status}: is it the notification service?`)
}

async function writeRecording(options: RecordOptions, progress: Progress, check: () => void): Promise<Recording> {
  const { profile, assumptions } = settingsOf(options, progress)
  const { owner = {}, positions = {} } = progress.state
  const { _environmentId: _id, _organizationId } = owner
  const settings = {
    ...(_id && ID_PATTERN.test(_id) && { _id }),
    name: options.name,
    ...(_organizationId && ID_PATTERN.test(_organizationId) && { _organizationId }),
    profile,
    ...(Object.keys(assumptions).length > 0 && { assumptions })
  }
  const unknown = ASSUMPTION_IDS.filter((id) => positions[id] === undefined && !(id in options.assumptions))
  const differences = [
    'integrations are missing: none of the operations lists them; add those that set-primary shall find',
    ...(unknown.length > 0 ? [`${unknown.join(', ')}: not to be seen by reading, as in the profile ${profile}`] : []),
    ...(options.keepPersonalData
      ? ['credentials, keys and addresses of webhooks are replaced']
      : [
          'personal data is replaced: names, addresses, contents, payloads, your ids of subscribers and transactions,',
          `  contexts, ${options.keepWorkflowTexts ? '' : 'texts of workflows, '}credentials and keys; ids of records and times are not`
        ]),
    ...[...progress.notes].map(([text, count]) => (count === 1 ? text : `${text} (${count} times)`))
  ]
  const read = progress.counts()
  const counts = { ...read, messages: Math.min(read.messages, options.maximum) }
  const comment = [
    `Recorded by notification-mock ${VERSION} from ${options.url}: ${counts.messages} messages, ${counts.steps} steps.`,
    'A server with this seed gives the same answers, apart from:',
    ...differences.map((line) => (line.startsWith('  ') ? line : `- ${line}`))
  ].map((line) => line.replaceAll(/\p{Cc}/gu, ' '))
  const lists = {
    integrations: [],
    subscribers: progress.subscribers(),
    workflows: progress.seedWorkflows(),
    messages: firstOf(progress.messages(), options.maximum)
  }
  const isPrivate = options.keepPersonalData
  const files = await writeSeed(options.out, { comment, settings, lists, isPrivate }, check)
  progress.remove()
  return { files, ...counts, profile, assumptions, differences }
}

function settingsOf({ profile: wanted, assumptions: given }: RecordOptions, { state }: Progress) {
  const { positions = {} } = state
  const profile = wanted ?? nearestProfile(Object.values(positions))
  return { profile, assumptions: overridesOf(profile, assume(profile, overridesIn(positions), given)) }
}

function* firstOf<Item>(items: Iterable<Item>, count: number): Generator<Item, void> {
  let left = count
  for (const item of items) {
    if (left-- <= 0) return
    yield item
  }
}
