import { ID_PATTERN } from '../core/ids.js'
import type { Integration } from '../integrations/schemas.js'
import { checkStatus, recordIn } from './answers.js'
import type { SubjectOptions } from './options.js'
import { check, needed } from './outcome.js'
import type { Answer, Ask, Target } from './target.js'

export function setPrimaryPath(id: string): string {
  return `/v1/integrations/${encodeURIComponent(id)}/set-primary`
}

/** An integration as set-primary shows it, or that it refuses to make primary. */
export interface NamedIntegration {
  /** As it was named. */
  id: string
  answer: Answer
  /** Undefined when it can't be primary. */
  integration: Integration | undefined
}

export type Integrations = ReturnType<typeof integrationsOf>

/** What set-primary is asked about, and what it was before. */
export function integrationsOf(target: Target, options: SubjectOptions) {
  let before: Promise<Integration[] | undefined> | undefined
  let named: Promise<NamedIntegration[]> | undefined

  const self = {
    /** Sends set-primary. */
    set(id: string, ask: Ask = {}): Promise<Answer> {
      return target.ask(setPrimaryPath(id), { ...ask, method: 'POST' })
    },

    /** Returns what the target lists under `GET /v1/integrations`, beyond the contract; undefined when it does not. */
    async listed(): Promise<Integration[] | undefined> {
      const answer = await target.ask('/v1/integrations')
      if (answer.status !== 200) return undefined
      const json = answer.json as { data?: unknown } | unknown[] | null
      const list = Array.isArray(json) ? json : json?.data
      if (!Array.isArray(list)) return undefined
      return list.filter(
        (each) => typeof each?._id === 'string' && typeof each?.channel === 'string' && each.deleted !== true
      )
    },

    /** Returns the integrations that cases may change. Throws `Skipped` when changes are not allowed or none is known. */
    all(): Promise<NamedIntegration[]> {
      needed(options.allowChanges, 'it changes the primary integration: needs --allow-changes')
      named ??= readAll()
      return named
    },

    /** Returns one that can be primary. */
    async one(): Promise<Integration & { _id: string }> {
      const found = usable(await self.all())[0]
      needed(found !== undefined, 'no integration that was named can be primary')
      return found
    },

    /** Returns two of one channel that can be primary. */
    async pair(): Promise<[Integration & { _id: string }, Integration & { _id: string }]> {
      const all = usable(await self.all())
      for (const first of all) {
        const second = all.find((each) => each.channel === first.channel && each._id !== first._id)
        if (second) return [first, second]
      }
      needed(false, 'it needs two integrations of one channel: name both with --integration')
      throw new Error('unreachable')
    },

    /** Makes the former primaries primary again. Returns what could not be done. */
    async restore(): Promise<string[]> {
      if (!named) return []
      const listed = await before
      const tried = await named.catch(() => [])
      const channels = new Set(tried.map(({ integration }) => integration?.channel))
      const former = listed
        ? listed.filter(({ primary, channel }) => primary && channels.has(channel)).map(({ _id }) => _id ?? '')
        : firstOfEachChannel(tried)
      const problems: string[] = []
      for (const id of former) {
        const answer = await self.set(id).catch((error: Error) => error)
        if (answer instanceof Error) problems.push(`${id}: ${answer.message}`)
        else if (answer.status !== 200) problems.push(`${id}: status ${answer.status}`)
      }
      return problems
    }
  }
  return self

  /** Asks for each what set-primary answers, as there is no other way to read one. */
  async function readAll(): Promise<NamedIntegration[]> {
    before ??= self.listed()
    const listed = await before
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

function usable(all: readonly NamedIntegration[]): (Integration & { _id: string })[] {
  return all.flatMap(({ integration }) => (integration?._id ? [{ ...integration, _id: integration._id }] : []))
}

function firstOfEachChannel(all: readonly NamedIntegration[]): string[] {
  const first = new Map<string, string>()
  for (const { id, integration } of all) {
    if (integration && !first.has(integration.channel)) first.set(integration.channel, id)
  }
  return [...first.values()]
}
