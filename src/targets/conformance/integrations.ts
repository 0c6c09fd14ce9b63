import { attempt, StartError } from '../../core/errors.js'
import { ID_PATTERN } from '../../core/ids.js'
import type { Integration } from '../../integrations/schemas.js'
import { checkStatus, isObject, recordIn, setPrimaryPath } from '../answers.js'
import { check, needed } from '../outcome.js'
import type { Answer, Ask, Target } from '../target.js'
import type { SubjectOptions } from './options.js'

/** An integration as set-primary shows it, or that it refuses to make primary. */
export interface NamedIntegration {
  /** As it was named. */
  id: string
  answer: Answer
  /** Undefined when it can't be primary. */
  integration: Integration | undefined
}

type Channel = Integration['channel']

export interface Restored {
  /** What could not be put back, and why. */
  notRestored: string[]
  /** Channels that have a primary now, and had none before. */
  newPrimaries: string[]
}

export type Integrations = ReturnType<typeof integrationsOf>

/** What set-primary is asked about, and what it was before. */
export function integrationsOf(target: Target, options: SubjectOptions) {
  let before: Integration[] | undefined
  let named: Promise<NamedIntegration[]> | undefined
  /** What set-primary may have changed, as it was named, with its channel if an answer has shown that. */
  const changed = new Map<string, Channel | undefined>()

  const self = {
    /** Sends set-primary. */
    async set(id: string, ask: Ask = {}): Promise<Answer> {
      await former()
      const isFirst = !changed.has(id)
      // Before it is sent: it may be done without an answer.
      if (isFirst) changed.set(id, undefined)
      const answer = await target.ask(setPrimaryPath(id), { ...ask, method: 'POST' })
      if (answer.status === 200)
        changed.set(id, attempt(() => recordIn<Integration>(answer).channel) ?? changed.get(id))
      else if (isFirst && answer.status >= 400 && answer.status < 500) changed.delete(id)
      return answer
    },

    list: () => listOf(target),

    /** Throws `StartError` when one is named that is not among those that the target lists. */
    async checkNamed(): Promise<void> {
      if (!options.allowChanges || options.integrations.length === 0) return
      const listed = (await former()) ?? []
      const unknown = options.integrations.find((id) => !listed.some((each) => isNamed(each, id)))
      if (listed.length === 0 || unknown === undefined) return
      throw new StartError(`--integration ${unknown}: the target lists no such integration; nothing was changed`)
    },

    /** Returns the integrations that cases may change. Throws `Skipped` when changes are not allowed or none is known. */
    all(): Promise<NamedIntegration[]> {
      needed(options.allowChanges, 'it changes the primary integration: needs --allow-changes')
      named ??= readAll().catch((error) => {
        // What could not be read is read again for the next case.
        named = undefined
        throw error
      })
      return named
    },

    /** Returns one that can be primary. */
    async one(): Promise<Usable> {
      const found = usable(await self.all())[0]
      needed(found !== undefined, 'no integration that was named can be primary')
      return found
    },

    /** Returns two of one channel that can be primary. */
    pair: async () => pairIn(usable(await self.all())),

    /** Makes the former primaries primary again, also when the run is interrupted. Never rejects. */
    async restore(): Promise<Restored> {
      const restored: Restored = { notRestored: [], newPrimaries: [] }
      const channelOf = (id: string) => changed.get(id) ?? before?.find((each) => isNamed(each, id))?.channel
      for (const channel of new Set([...changed.keys()].map(channelOf))) {
        if (channel === undefined) continue
        const former = before
          ? before.filter((each) => each.primary && each.channel === channel).map(({ _id = '' }) => _id)
          : options.integrations.filter((id) => changed.get(id) === channel).slice(0, 1)
        if (former.length === 0) {
          if (before) restored.newPrimaries.push(channel)
          else restored.notRestored.push(`channel ${channel}: which one was primary is not known`)
        }
        for (const id of former) restored.notRestored.push(...(await putBack(target, id)))
      }
      return restored
    }
  }
  return self

  /** Returns what was listed before anything was changed; undefined when nothing was. */
  async function former(): Promise<Integration[] | undefined> {
    if (changed.size === 0) before ??= await self.list()
    return before
  }

  /** Asks for each what set-primary answers, as there is no other way to read one. */
  async function readAll(): Promise<NamedIntegration[]> {
    const listed = await former()
    const ids = options.integrations.length > 0 ? options.integrations : (listed ?? []).map(({ _id = '' }) => _id)
    const remedy =
      'name some with --integration, of each channel the present primary first, which is put back at the end'
    needed(ids.length > 0, `the target lists no integrations: ${remedy}`)
    const answers: NamedIntegration[] = []
    for (const id of ids) {
      const answer = await self.set(id)
      checkStatus(answer, 200, 400)
      const integration = answer.status === 200 ? recordIn<Integration>(answer) : undefined
      const isOther = integration !== undefined && ID_PATTERN.test(id) && integration._id !== id
      check(!isOther, `${answer.request}: the answer has another _id`)
      answers.push({ id, answer, integration })
    }
    return answers
  }
}

/**
 * Returns what the target lists under `GET /v1/integrations`, beyond the contract; undefined when it does not, or when
 * that can't be read.
 */
async function listOf(target: Target): Promise<Integration[] | undefined> {
  const answer = await target.ask('/v1/integrations').catch(orNothing)
  if (answer?.status !== 200) return undefined
  const { body } = answer
  const list = isObject(body) ? body.data : body
  const isList =
    Array.isArray(list) && list.every((each) => typeof each?._id === 'string' && typeof each?.channel === 'string')
  return isList ? list.filter(({ deleted }) => deleted !== true) : undefined
}

/** Makes an integration primary. Returns why it could not be, in a list that is empty when it is. */
async function putBack(target: Target, id: string): Promise<string[]> {
  const answer = await target
    .ask(setPrimaryPath(id), { method: 'POST', uninterrupted: true })
    .catch((error: Error) => error)
  if (answer instanceof Error) return [`${id}: ${answer.message}`]
  return answer.status === 200 ? [] : [`${id}: status ${answer.status}`]
}

type Usable = Integration & { _id: string }

function pairIn(all: readonly Usable[]): [Usable, Usable] {
  for (const first of all) {
    const second = all.find((each) => each.channel === first.channel && each._id !== first._id)
    if (second) return [first, second]
  }
  needed(false, 'it needs two integrations of one channel: name both with --integration')
  throw new Error('unreachable')
}

function usable(all: readonly NamedIntegration[]): Usable[] {
  return all.flatMap(({ integration }) => (integration?._id ? [{ ...integration, _id: integration._id }] : []))
}

function isNamed({ _id, identifier }: Integration, name: string): boolean {
  return name === _id || name === identifier
}

function orNothing(): undefined {
  return undefined
}
