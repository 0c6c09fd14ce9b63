import { attempt, StartError } from '../../core/errors.js'
import type { Integration } from '../../integrations/schemas.js'
import {
  type Answer,
  Breach,
  isObject,
  messageIn,
  NO_PRIMARY,
  needed,
  recordIn,
  Skipped,
  setPrimaryPath
} from '../answers.js'
import type { Ask, Target } from '../target.js'

/** What a run may do, and what of the target it is told. */
export interface SubjectOptions {
  allowChanges: boolean
  workflows: readonly string[]
  steps: readonly string[]
  integrations: readonly string[]
  /** An integration of another environment of the organization. */
  foreignIntegration?: string | undefined
}

/** An integration as set-primary answers with it, or refuses to make it primary. */
export interface NamedIntegration {
  /** As it was named. */
  id: string
  answer: Answer
  /** Undefined when it can't be primary. */
  integration: Usable | undefined
}

type Channel = Integration['channel']
type Usable = Integration & { _id: string }

export interface Restored {
  /** What could not be put back, and why. */
  notRestored: string[]
  /** Channels that have a primary now, and had none before. */
  newPrimaries: string[]
}

export type Integrations = ReturnType<typeof integrationsOf>

/** Where integrations are listed, beyond the contract: by the deployed service, and by this server itself. */
const LISTINGS = ['/v1/integrations', '/_mock/integrations']

const NAME_ONE = '--integration <id of the primary>'
const NAME_TWO = `${NAME_ONE} --integration <id of another>`

/** What set-primary is asked about, and what it was before. */
export function integrationsOf(ask: Target['ask'], options: SubjectOptions) {
  const changes = changesOf(ask, options)
  let named: Promise<NamedIntegration[]> | undefined

  const self = {
    ...changes,

    /** Returns what the target lists beyond the contract. Throws `Skipped` when it lists nothing. */
    async listed(): Promise<Integration[]> {
      const all = await listIntegrations(ask)
      needed(all !== undefined, 'the target does not list its integrations')
      return all
    },

    /** Throws `StartError` when one is named that is not among those that the target lists. */
    async checkNamed(): Promise<void> {
      if (!options.allowChanges || options.integrations.length === 0) return
      const listed = (await changes.former()) ?? []
      const unknown = options.integrations.find((id) => !listed.some((each) => isNamed(each, id)))
      if (listed.length === 0 || unknown === undefined) return
      throw new StartError(`--integration ${unknown}: the target lists no such integration; nothing was changed`)
    },

    /** Returns the integrations that cases may change. Throws `Skipped` when changes are not allowed or none is known. */
    all(): Promise<NamedIntegration[]> {
      needed(options.allowChanges, 'it may change the environment', '--allow-changes')
      named ??= readAll().catch((error) => {
        // What could not be read is read again for the next case.
        named = undefined
        throw error
      })
      return named
    },

    /** Returns those that can be primary. Throws `Failure` when set-primary does it for none. */
    async usable(): Promise<Usable[]> {
      const all = await self.all()
      const found = all.flatMap(({ integration }) => integration ?? [])
      const [first] = all
      if (first && !all.some(({ answer, integration }) => integration || isNoPrimary(answer))) checkDone(first.answer)
      needed(found.length > 0, 'no integration that is known can be primary', NAME_ONE)
      return found
    },

    /** Returns one that can be primary. */
    async one(): Promise<Usable> {
      const [first] = await self.usable()
      return first as Usable
    },

    /** Returns two of one channel that can be primary. */
    async pair(): Promise<[Usable, Usable]> {
      const all = await self.usable()
      for (const first of all) {
        const second = all.find((each) => each.channel === first.channel && each._id !== first._id)
        if (second) return [first, second]
      }
      throw new Skipped('no two integrations of one channel are known', NAME_TWO)
    }
  }
  return self

  /** Asks for each what set-primary answers, as there is no other way to read one. */
  async function readAll(): Promise<NamedIntegration[]> {
    const listed = await changes.former()
    const ids = options.integrations.length > 0 ? options.integrations : (listed ?? []).map(({ _id = '' }) => _id)
    needed(
      ids.length > 0,
      'the target lists no integrations; of each channel, name the present primary first',
      NAME_TWO
    )
    const answers: NamedIntegration[] = []
    for (const id of ids) {
      const answer = await self.set(id)
      const integration = answer.status === 200 ? recordIn<Integration>(answer) : undefined
      answers.push({
        id,
        answer,
        integration: typeof integration?._id === 'string' ? (integration as Usable) : undefined
      })
    }
    return answers
  }
}

/** The changes that set-primary makes, so that they can be put back. */
function changesOf(ask: Target['ask'], options: SubjectOptions) {
  let before: Integration[] | undefined
  /** What set-primary may have changed, as it was named, with its channel if an answer has shown that. */
  const changed = new Map<string, Channel | undefined>()
  /** What was last made primary, by channel. */
  const primaries = new Map<Channel, string | undefined>()
  return {
    former,

    /** Sends set-primary. Throws `Skipped` when changes are not allowed. */
    async set(id: string, request: Ask = {}): Promise<Answer> {
      needed(options.allowChanges, 'it may change the environment', '--allow-changes')
      await former()
      const isFirst = !changed.has(id)
      // Before it is sent: it may be done without an answer.
      if (isFirst) changed.set(id, undefined)
      const answer = await ask(setPrimaryPath(id), { ...request, method: 'POST' })
      const { channel, _id } = attempt(() => recordIn<Integration>(answer)) ?? {}
      if (channel !== undefined) {
        changed.set(id, channel)
        primaries.set(channel, _id)
      } else if (isFirst && answer.status >= 400 && answer.status < 500) changed.delete(id)
      return answer
    },

    /** Returns the `_id` of what must be primary now; undefined for a channel that has none. */
    expectedPrimary(channel: Channel): string | undefined {
      return primaries.get(channel) ?? before?.find((each) => each.primary && each.channel === channel)?._id
    },

    /** Makes the former primaries primary again, also when the run is interrupted. Never rejects. */
    async restore(): Promise<Restored> {
      if (changed.size === 0) return { notRestored: [], newPrimaries: [] }
      const channelOf = (id: string) => changed.get(id) ?? before?.find((each) => isNamed(each, id))?.channel
      const channels = [...new Set([...changed.keys()].flatMap((id) => channelOf(id) ?? []))]
      if (!before) {
        const first = (channel: Channel) => options.integrations.find((id) => changed.get(id) === channel)
        const unknown = channels.filter((channel) => first(channel) === undefined)
        const problems = await putBack(
          ask,
          channels.flatMap((channel) => first(channel) ?? [])
        )
        return { notRestored: [...unknown.map(notKnown), ...problems], newPrimaries: [] }
      }
      const former = before.filter(({ primary }) => primary)
      const lost = async () => {
        const now = await listIntegrations(ask, { uninterrupted: true })
        return former.filter(({ _id }) => now?.some((each) => each._id === _id && !each.primary))
      }
      const now = await lost()
      // A target may have demoted those of other channels too.
      const own = former.filter((each) => channels.includes(each.channel) || now.includes(each))
      const problems = await putBack(
        ask,
        own.map(({ _id = '' }) => _id)
      )
      const still = (await lost()).map(({ _id }) => `${_id}: it is not primary afterwards`)
      const hadNone = channels.filter((channel) => !former.some((each) => each.channel === channel))
      return { notRestored: [...problems, ...still], newPrimaries: hadNone }
    }
  }

  /** Returns what was listed before anything was changed; undefined when nothing was. */
  async function former(): Promise<Integration[] | undefined> {
    if (changed.size === 0) before ??= await listIntegrations(ask)
    return before
  }
}

/** Returns what the target lists beyond the contract; undefined when it lists nothing that can be read. */
async function listIntegrations(ask: Target['ask'], request: Ask = {}): Promise<Integration[] | undefined> {
  for (const path of LISTINGS) {
    const answer = await ask(path, request).catch(() => undefined)
    const body = answer?.status === 200 && isObject(answer.body) ? answer.body : {}
    const found = Array.isArray(answer?.body) ? answer.body : (body.data ?? body.integrations)
    const isList =
      Array.isArray(found) && found.every((each) => typeof each?._id === 'string' && typeof each?.channel === 'string')
    if (isList) return found.filter(({ deleted }) => deleted !== true)
  }
  return undefined
}

/** Makes integrations primary. Returns which could not be, and why. */
async function putBack(ask: Target['ask'], ids: readonly string[]): Promise<string[]> {
  const problems: string[] = []
  for (const id of ids) {
    const request = { method: 'POST', uninterrupted: true }
    const answer = await ask(setPrimaryPath(id), request).catch((error: Error) => error)
    if (answer instanceof Error) problems.push(`${id}: ${answer.message}`)
    else if (answer.status !== 200) problems.push(`${id}: status ${answer.status}`)
  }
  return problems
}

/** Throws `Breach` unless set-primary has done it, or has said that the channel has no primary. */
export function checkDone(answer: Answer): void {
  if (answer.status === 200 || isNoPrimary(answer)) return
  throw new Breach(`status ${answer.status}, must be 200: the integration exists`, answer)
}

function isNoPrimary(answer: Answer): boolean {
  return answer.status === 400 && NO_PRIMARY.test(String(messageIn(answer)))
}

const notKnown = (channel: Channel) => `channel ${channel}: which one was primary is not known`

function isNamed({ _id, identifier }: Integration, name: string): boolean {
  return name === _id || name === identifier
}
