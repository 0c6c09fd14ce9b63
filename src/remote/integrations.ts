import { attempt } from '../domain/errors.js'
import type { Integration } from '../integrations/schemas.js'
import { setPrimaryPath } from './paths.js'
import {
  type Answer,
  type Ask,
  Breach,
  isObject,
  messageIn,
  NO_PRIMARY,
  needed,
  recordIn,
  Skipped
} from './response-checks.js'
import type { Target } from './target.js'

/** What a run may do, and what of the target it is told. */
export interface SubjectOptions {
  allowChanges: boolean
  workflows: readonly string[]
  steps: readonly string[]
  integrations: readonly string[]
  /** An integration of another environment of the organization. */
  foreignIntegration?: string | undefined
}

type Channel = Integration['channel']
type Usable = Integration & { _id: string }

/** An integration as set-primary answers with it, or refuses to make it primary. */
export interface NamedIntegration {
  /** As it was named. */
  id: string
  answer: Answer
  /** Undefined when it can't be primary. */
  integration: Usable | undefined
}

const NAME_ONE = '--integration <id of the primary>'
const NAME_TWO = `${NAME_ONE} --integration <id of another>`

/** What set-primary is asked about, what it was before, and what puts it back. */
export function integrationsOf(ask: Target['ask'], options: SubjectOptions) {
  /** What was listed before anything was changed; undefined when nothing was. */
  let before: Usable[] | undefined
  /** What set-primary may have changed, as it was named, with its channel if an answer has shown that. */
  const changed = new Map<string, Channel | undefined>()
  /** What was last made primary, by channel. */
  const primaries = new Map<Channel, string | undefined>()
  let named: Promise<NamedIntegration[]> | undefined
  return { listed, all, usable, one, pair, set, expectedPrimary, restore }

  /** Returns what the target lists beyond the contract. Throws `Skipped` when it lists nothing. */
  async function listed(): Promise<Integration[]> {
    const found = await listIntegrations(ask)
    needed(found !== undefined, 'the target does not list its integrations')
    return found
  }

  /** Returns the integrations that cases may change. Throws `Skipped` when changes are not allowed or none is known. */
  function all(): Promise<NamedIntegration[]> {
    needed(options.allowChanges, 'it may change the environment', '--allow-changes')
    named ??= readAll().catch((error) => {
      // What could not be read is read again for the next case.
      named = undefined
      throw error
    })
    return named
  }

  /** Asks for each what set-primary answers, as there is no other way to read one. */
  async function readAll(): Promise<NamedIntegration[]> {
    if (changed.size === 0) before ??= await listIntegrations(ask)
    const ids =
      options.integrations.length > 0 ? options.integrations : (before ?? []).map(({ _id }) => _id)
    const reason =
      'the target lists no integrations; of each channel, name the present primary first'
    needed(ids.length > 0, reason, NAME_TWO)
    const found: NamedIntegration[] = []
    for (const id of ids) {
      const answer = await set(id)
      const integration = answer.status === 200 ? recordIn<Usable>(answer) : undefined
      found.push({
        id,
        answer,
        integration: typeof integration?._id === 'string' ? integration : undefined
      })
    }
    return found
  }

  /** Returns those that can be primary. Throws `Failure` when set-primary does it for none. */
  async function usable(): Promise<Usable[]> {
    const known = await all()
    const found = known.flatMap(({ integration }) => integration ?? [])
    if (known[0] && found.length === 0 && !known.some(({ answer }) => isNoPrimary(answer)))
      checkDone(known[0].answer)
    needed(found.length > 0, 'no integration that is known can be primary', NAME_ONE)
    return found
  }

  async function one(): Promise<Usable> {
    return (await usable())[0] as Usable
  }

  async function pair(): Promise<[Usable, Usable]> {
    const found = await usable()
    for (const first of found) {
      const second = found.find((each) => each.channel === first.channel && each._id !== first._id)
      if (second) return [first, second]
    }
    throw new Skipped('no two integrations of one channel are known', NAME_TWO)
  }

  /** Sends set-primary. Throws `Skipped` when changes are not allowed. */
  async function set(id: string, request: Ask = {}): Promise<Answer> {
    needed(options.allowChanges, 'it may change the environment', '--allow-changes')
    if (changed.size === 0) before ??= await listIntegrations(ask)
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
  }

  /** Returns the `_id` of what must be primary now; undefined for a channel that has none. */
  function expectedPrimary(channel: Channel): string | undefined {
    return (
      primaries.get(channel) ??
      before?.find((each) => each.primary && each.channel === channel)?._id
    )
  }

  /**
   * Makes the former primaries primary again, also when the run is interrupted: those that were listed, or else the first of
   * each channel that was named. Returns what could not be put back, and the channels that have a primary now, and had none
   * before. Never rejects.
   */
  async function restore() {
    const former = (before ?? []).filter(({ primary }) => primary)
    const listedAs = (name: string) =>
      before?.find(({ _id, identifier }) => name === _id || name === identifier)
    const channels = new Set(
      [...changed].flatMap(([id, channel]) => channel ?? listedAs(id)?.channel ?? [])
    )
    const firsts = [...channels].map((channel) =>
      options.integrations.find((id) => changed.get(id) === channel)
    )
    const demoted = changed.size > 0 ? await lost() : []
    // A target may have demoted those of other channels too.
    const listed = former
      .filter((each) => channels.has(each.channel) || demoted.includes(each))
      .map(({ _id }) => _id)
    const problems: string[] = []
    for (const id of before ? listed : firsts.flatMap((first) => first ?? [])) {
      const request = { method: 'POST', uninterrupted: true }
      const answer = await ask(setPrimaryPath(id), request).catch((error: Error) => error)
      const problem =
        answer instanceof Error
          ? answer.message
          : answer.status !== 200 && `status ${answer.status}`
      if (problem) problems.push(`${id}: ${problem}`)
    }
    if (listed.length > 0)
      problems.push(...(await lost()).map(({ _id }) => `${_id}: it is not primary afterwards`))
    if (before) {
      const newPrimaries = [...channels].filter(
        (channel) => !former.some((each) => each.channel === channel)
      )
      return { notRestored: problems, newPrimaries }
    }
    const unknown = [...channels].filter((_, index) => firsts[index] === undefined)
    const notKnown = unknown.map(
      (channel) => `channel ${channel}: which one was primary is not known`
    )
    return { notRestored: [...notKnown, ...problems], newPrimaries: [] }

    /** Returns the former primaries that are listed as such no more. */
    async function lost(): Promise<Usable[]> {
      const now = former.length > 0 ? await listIntegrations(ask, { uninterrupted: true }) : []
      return former.filter(({ _id }) => now?.some((each) => each._id === _id && !each.primary))
    }
  }
}

/** Where integrations are listed, beyond the contract: by the deployed service, and by this server itself. */
const LISTINGS = ['/v1/integrations', '/_mock/integrations']

/** Returns what the target lists beyond the contract; undefined when it lists nothing that can be read. */
async function listIntegrations(
  ask: Target['ask'],
  request: Ask = {}
): Promise<Usable[] | undefined> {
  for (const path of LISTINGS) {
    const answer = await ask(path, request).catch(() => undefined)
    const body = answer?.status === 200 && isObject(answer.body) ? answer.body : {}
    const found = Array.isArray(answer?.body) ? answer.body : (body.data ?? body.integrations)
    const isOne = (each: unknown) =>
      isObject(each) && typeof each._id === 'string' && typeof each.channel === 'string'
    if (Array.isArray(found) && found.every(isOne))
      return found.filter(({ deleted }) => deleted !== true)
  }
  return undefined
}

/** Throws `Breach` unless set-primary has done it, or has said that the channel has no primary. */
export function checkDone(answer: Answer): void {
  if (answer.status === 200 || isNoPrimary(answer)) return
  throw new Breach(`status ${answer.status}, must be 200: the integration exists`, answer)
}

function isNoPrimary(answer: Answer): boolean {
  return answer.status === 400 && NO_PRIMARY.test(String(messageIn(answer)))
}
