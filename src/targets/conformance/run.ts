import { STATUS_CODES } from 'node:http'
import type { Profile } from '../../core/assumptions.js'
import { StartError } from '../../core/errors.js'
import { Breach, Failure, NoAnswer, type Sent, Skipped } from '../answers.js'
import { createTarget, type TargetOptions } from '../target.js'
import type { Basis, CaseResult, ConformanceCase, Tier } from './case.js'
import { CASES } from './cases/index.js'
import { curlOf } from './curl.js'
import type { Restored, SubjectOptions } from './integrations.js'
import { type OperationReport, operationsReport } from './operations.js'
import { type ProfileReport, profileReport } from './profile.js'
import { createSubject, type Subject, TargetGone } from './subject.js'

export interface RunOptions extends TargetOptions, Partial<SubjectOptions> {
  /** All, if left out. */
  tiers?: readonly Tier[] | undefined
  /** Ids of cases, or beginnings of them up to a dot. All, if left out. */
  only?: readonly string[] | undefined
  /** The profile that the target must be: then what would be a note is a failure. */
  profile?: Profile | undefined
  /** Called after each case. */
  onResult?: (result: CaseResult) => void
  /** Ends the run before the next case, and what waits or is read; the primary integrations are put back. */
  signal?: AbortSignal
}

export interface ConformanceReport extends Restored {
  target: string
  /** When it was begun, in UTC. */
  date: string
  milliseconds: number
  requests: number
  counts: Record<CaseResult['outcome'], number>
  /** How far each operation was judged. */
  operations: OperationReport[]
  profile: ProfileReport
  cases: CaseResult[]
  /** Why not all cases were run: the target answers no more, and what it was last asked. */
  ended?: string
}

/** How often a case is judged when messages keep coming in. */
const ATTEMPTS = 4
/** How many of the changes before a request are shown with it. */
const MAX_SHOWN = 4

/**
 * Judges a target by all cases. The key is in no text of the report. Throws `StartError` when the target can't be reached
 * or rejects the key, so that there is nothing to judge.
 */
export async function runConformance(options: RunOptions): Promise<ConformanceReport> {
  const { profile, signal, allowChanges = false, workflows = [], steps = [], integrations = [] } = options
  const target = createTarget(options)
  const subject = createSubject(target, { ...options, allowChanges, workflows, steps, integrations })
  const hide = (text: string) => text.replaceAll(options.apiKey, '***')
  const date = new Date().toISOString()
  const started = performance.now()
  await checkAccess(subject, options.url, hide)
  await subject.integrations.checkNamed()

  const cases: CaseResult[] = []
  const all = chosen(options)
  let ended: string | undefined
  let restored: Restored
  try {
    for (const each of all) {
      if (signal?.aborted || ended !== undefined) break
      const { gone, ...result } = await judge(each, subject, profile, options.url)
      // It may have failed by that.
      if (signal?.aborted && result.reason !== undefined) break
      if (gone) ended = `the target answers no more (${gone}), since ${result.requests?.at(-1)}`
      const shown = result.reason === undefined ? result : { ...result, reason: hide(result.reason) }
      cases.push(shown)
      options.onResult?.(shown)
    }
  } finally {
    restored = await subject.integrations.restore()
  }
  const notRun = all.slice(cases.length).map((each): CaseResult => {
    return { ...each, outcome: 'skipped', reason: 'the run ended before', milliseconds: 0 }
  })
  const count = (outcome: CaseResult['outcome']) => cases.filter((each) => each.outcome === outcome).length
  return {
    target: options.url,
    date,
    milliseconds: Math.round(performance.now() - started),
    requests: target.requests(),
    counts: { passed: count('passed'), failed: count('failed'), noted: count('noted'), skipped: count('skipped') },
    operations: operationsReport([...cases, ...notRun], { ...subject.options, url: options.url }),
    profile: profileReport(cases),
    cases,
    ...(ended !== undefined && { ended: hide(ended) }),
    notRestored: restored.notRestored.map(hide),
    newPrimaries: restored.newPrimaries
  }
}

/** Throws `StartError` unless the target answers, and takes the key. */
async function checkAccess({ ask }: Subject, url: string, hide: (text: string) => string): Promise<void> {
  const path = '/v1/messages?limit=1'
  const answer = await ask(path).catch((error: Error) => {
    throw new StartError(hide(`${url}: ${error instanceof Failure ? `GET ${path}: ` : ''}${error.message}`))
  })
  if (answer.status !== 401 && answer.status !== 403) return
  throw new StartError(`${url} rejects the key: ${answer.status} ${STATUS_CODES[answer.status]}`)
}

/** Returns the first of these that is no case, and no beginning of one. */
export function unknownCase(only: readonly string[]): string | undefined {
  return only.find((name) => !CASES.some((each) => isNamed(each, name)))
}

function isNamed({ id }: ConformanceCase, name: string): boolean {
  return id === name || id.startsWith(`${name}.`)
}

function chosen({ tiers, only, profile }: RunOptions): ConformanceCase[] {
  return CASES.filter(
    (each) =>
      (tiers === undefined || tiers.includes(each.tier)) &&
      (only === undefined || only.some((name) => isNamed(each, name))) &&
      (!each.documentOnly || profile === 'document')
  )
}

async function judge(
  { run, documentOnly: _, ...each }: ConformanceCase,
  subject: Subject,
  profile: Profile | undefined,
  url: string
): Promise<CaseResult & { gone?: string }> {
  const started = performance.now()
  const done = (outcome: CaseResult['outcome'], more: Partial<CaseResult & { gone: string }> = {}) => {
    return { ...each, outcome, ...more, milliseconds: Math.round(performance.now() - started) }
  }
  for (let attempt = 1; ; attempt++) {
    // A first failure may come from messages that came in or changed since the sample was read, so it counts for nothing.
    const newest = attempt === 1 ? undefined : await newestOf(subject)
    subject.takeSent()
    try {
      const position = (await run(subject)) ?? undefined
      if (profile === undefined || position === undefined || position === profile) {
        return done('passed', position && { position })
      }
      return done('failed', { reason: `it takes the position of the profile ${position}, not of ${profile}`, position })
    } catch (error) {
      if (error instanceof Skipped) {
        const flags = error.flags && { flags: error.flags }
        return done('skipped', { reason: error.message, ...flags })
      }
      const requests = requestsOf(error as Error, subject.takeSent()).map((sent) => curlOf(url, sent))
      // What is no failure of ours is an answer that can't be read at all: a field of another type, or null.
      const reason =
        error instanceof Failure ? error.message : `an answer has another form: ${(error as Error).message}`
      if (error instanceof TargetGone) return done('failed', { reason, requests, gone: reason })
      const isBroken = error instanceof NoAnswer || error instanceof Breach
      const outcome = isBroken || isFailure(each.basis, profile) ? 'failed' : 'noted'
      if (!readsMessages(each) || newest === '') return done(outcome, { reason, requests })
      if (newest !== undefined && (await newestOf(subject)) === newest) return done(outcome, { reason, requests })
      if (attempt === ATTEMPTS) {
        return done('skipped', { reason: `messages kept coming in while it was judged; at last: ${reason}` })
      }
      subject.forget()
    }
  }
}

/** Whether a rule that is broken makes the target fail, or is noted. */
function isFailure(basis: Basis, profile: Profile | undefined): boolean {
  if ('contract' in basis) return true
  return 'settled' in basis && basis.strictly ? profile === 'document' : profile !== undefined
}

/** Returns the request whose answer was wrong, and before it the changes that a case has made. */
function requestsOf(error: Error, sent: readonly Sent[]): Sent[] {
  const wrong = (error instanceof Failure ? error.request : undefined) ?? sent.at(-1)
  if (wrong === undefined) return []
  const index = sent.findLastIndex(({ path, ask }) => path === wrong.path && ask === wrong.ask)
  const changes = sent.slice(0, Math.max(0, index)).filter(({ ask }) => ask.method === 'POST')
  return [...changes.slice(-MAX_SHOWN), wrong]
}

/** Whether messages that come in or change while it is judged can fail a case. */
function readsMessages({ id }: Pick<ConformanceCase, 'id'>): boolean {
  return /^(paging|filter|wire\.list)\./.test(id)
}

/** Returns what changes when a message comes in: the newest of the list, and how many there are. */
async function newestOf({ list }: Subject): Promise<string> {
  try {
    const { data, totalCount } = await list({ limit: 1 })
    return `${data[0]?._id} ${totalCount}`
  } catch {
    return ''
  }
}
