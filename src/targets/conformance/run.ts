import { STATUS_CODES } from 'node:http'
import { StartError } from '../../core/errors.js'
import { createRandom } from '../../core/random.js'
import { Failure, needed, Skipped } from '../outcome.js'
import type { Position } from '../positions.js'
import { createTarget, type TargetOptions } from '../target.js'
import type { Basis, ConformanceCase, Need, Tier } from './case.js'
import { CASES } from './cases/index.js'
import type { Restored } from './integrations.js'
import type { SubjectOptions } from './options.js'
import { type Judgement, type ProfileReport, profileReport } from './profile.js'
import { createSubject, type Subject } from './subject.js'

export interface RunOptions extends TargetOptions, Partial<SubjectOptions> {
  /** All, if left out. */
  tiers?: readonly Tier[] | undefined
  /** Ids of cases, or beginnings of them up to a dot. All, if left out. */
  only?: readonly string[] | undefined
  /** The cases in another order, the same for the same number. */
  order?: number | undefined
  /** The profile that the target must be. */
  profile?: Position | undefined
  /** Called after each case. */
  onResult?: (result: CaseResult) => void
  /** Ends the run before the next case, and what waits or is read; the primary integrations are put back. */
  signal?: AbortSignal
}

export interface CaseResult {
  id: string
  tier: Tier
  rule: string
  basis: Basis
  outcome: 'passed' | 'failed' | 'skipped'
  /** What is wrong, or why it was skipped. */
  reason?: string
  milliseconds: number
}

export interface ConformanceReport extends Restored {
  target: string
  /** When it was begun, in UTC. */
  date: string
  milliseconds: number
  requests: number
  counts: Record<CaseResult['outcome'], number>
  profile: ProfileReport
  cases: CaseResult[]
}

/** How often a case is judged when messages keep coming in. */
const ATTEMPTS = 4

/**
 * Judges a target by all cases. The key is in no text of the report. Throws `StartError` when the target can't be reached
 * or rejects the key, so that there is nothing to judge.
 */
export async function runConformance(options: RunOptions): Promise<ConformanceReport> {
  const target = createTarget(options)
  const subject = createSubject(target, { allowChanges: false, workflows: [], steps: [], integrations: [], ...options })
  const hide = (text: string) => subject.hide(text.replaceAll(options.apiKey, '***'))
  const date = new Date().toISOString()
  const started = performance.now()
  await checkAccess(subject, hide)
  await subject.integrations.checkNamed()

  const cases: CaseResult[] = []
  const judgements: Judgement[] = []
  let restored: Restored
  try {
    for (const each of chosen(options)) {
      if (options.signal?.aborted) break
      const { result, position } = await judge(each, subject, options.profile)
      // It may have failed by that.
      if (options.signal?.aborted && result.outcome === 'failed') break
      const shown = result.reason === undefined ? result : { ...result, reason: hide(result.reason) }
      if ('assumption' in each.basis) judgements.push({ row: each.basis.assumption, position, reason: shown.reason })
      cases.push(shown)
      options.onResult?.(shown)
    }
  } finally {
    restored = await subject.integrations.restore()
  }
  const count = (outcome: CaseResult['outcome']) => cases.filter((each) => each.outcome === outcome).length
  return {
    target: options.url,
    date,
    milliseconds: Math.round(performance.now() - started),
    requests: target.requests(),
    counts: { passed: count('passed'), failed: count('failed'), skipped: count('skipped') },
    profile: profileReport(judgements),
    cases,
    notRestored: restored.notRestored.map(hide),
    newPrimaries: restored.newPrimaries
  }
}

/** Throws `StartError` unless the target answers, and takes the key. */
async function checkAccess({ ask, target }: Subject, hide: (text: string) => string): Promise<void> {
  const answer = await ask('/v1/messages?limit=1').catch((error: Error) => {
    throw new StartError(hide(`${target.url}: ${error.message}`))
  })
  if (answer.status !== 401 && answer.status !== 403) return
  throw new StartError(`${target.url} rejects the key: ${answer.status} ${STATUS_CODES[answer.status]}`)
}

/** Returns the first of these that is no case, and no beginning of one. */
export function unknownCase(only: readonly string[]): string | undefined {
  return only.find((name) => !CASES.some((each) => isNamed(each, name)))
}

function isNamed({ id }: ConformanceCase, name: string): boolean {
  return id === name || id.startsWith(`${name}.`)
}

function chosen({ tiers, only, order }: RunOptions): ConformanceCase[] {
  const cases = CASES.filter(
    (each) =>
      (tiers === undefined || tiers.includes(each.tier)) &&
      (only === undefined || only.some((name) => isNamed(each, name)))
  )
  if (order === undefined) return cases
  const random = createRandom(order)
  return cases
    .map((each) => ({ each, at: random.next() }))
    .sort((one, two) => one.at - two.at)
    .map(({ each }) => each)
}

async function judge(
  each: ConformanceCase,
  subject: Subject,
  profile: Position | undefined
): Promise<{ result: CaseResult; position: Position | undefined }> {
  const { id, tier, rule, basis } = each
  const started = performance.now()
  const done = (outcome: CaseResult['outcome'], reason?: string, position?: Position) => {
    const milliseconds = Math.round(performance.now() - started)
    return { result: { id, tier, rule, basis, outcome, ...(reason && { reason }), milliseconds }, position }
  }
  const rereads = readsMessages(each)
  for (let attempt = 1; ; attempt++) {
    // A first failure may come from messages that came in or changed since the sample was read, so it counts for nothing.
    const newest = attempt === 1 ? undefined : await newestOf(subject)
    try {
      for (const need of each.needs) await PROVIDED[need](subject)
      const position = (await each.run(subject)) ?? undefined
      if (profile === undefined || position === undefined || position === profile) return done('passed', '', position)
      return done('failed', `it takes the position of the profile ${position}, not of ${profile}`, position)
    } catch (error) {
      if (error instanceof Skipped) return done('skipped', error.message)
      // What is no failure of ours is an answer that can't be read at all: a field of another type, or null.
      const reason =
        error instanceof Failure ? error.message : `an answer has another form: ${(error as Error).message}`
      if (!rereads || newest === '') return done('failed', reason)
      if (newest !== undefined && (await newestOf(subject)) === newest) return done('failed', reason)
      if (attempt === ATTEMPTS)
        return done('skipped', `messages kept coming in while it was judged; at last: ${reason}`)
      subject.forget()
    }
  }
}

/** Whether messages that come in or change while it is judged can fail a case. */
function readsMessages({ id, needs }: ConformanceCase): boolean {
  return needs.includes('messages') || needs.includes('contexts') || /^(paging|filter)\./.test(id)
}

/** Returns what changes when a message comes in: the newest of the list, and how many there are. */
async function newestOf({ list }: Subject): Promise<string> {
  try {
    const { data, totalCount } = await list([['limit', 1]])
    return `${data[0]?._id} ${totalCount}`
  } catch {
    return ''
  }
}

const PROVIDED: Record<Need, (subject: Subject) => Promise<unknown>> = {
  messages: ({ sample }) => sample(),
  contexts: async ({ sample }) => {
    const { messages } = await sample()
    needed(
      messages.some(({ contextKeys }) => (contextKeys ?? []).length > 0),
      'no message has a context'
    )
  },
  step: ({ steps }) => steps(),
  changes: async ({ options }) => {
    needed(options.allowChanges, 'it may change the environment: needs --allow-changes')
  },
  integration: async ({ integrations }) => integrations.one(),
  pair: async ({ integrations }) => integrations.pair(),
  listing: async ({ integrations }) => {
    needed((await integrations.list()) !== undefined, 'the target does not answer GET /v1/integrations')
  }
}
