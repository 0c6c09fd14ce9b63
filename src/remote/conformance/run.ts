import { STATUS_CODES } from 'node:http'
import type { Profile } from '../../domain/assumptions.js'
import { StartError } from '../../domain/errors.js'
import type { SubjectOptions } from '../integrations.js'
import { Breach, Failure, NoAnswer, type Sent, Skipped } from '../response-checks.js'
import { createSubject, type Subject, TargetGone } from '../service-under-test.js'
import { createTarget, type TargetOptions } from '../target.js'
import type { Basis, CaseResult, ConformanceCase } from './case.js'
import { CASES } from './cases/index.js'
import { curlOf } from './curl.js'
import { operationsReport, profileReport } from './summary.js'

export interface RunOptions extends TargetOptions, Partial<SubjectOptions> {
  /** Ids of cases, or beginnings of them up to a dot. All, if left out. */
  only?: readonly string[] | undefined
  /** The profile that the target must be: then what would be a note is a failure. */
  profile?: Profile | undefined
  /** Ends the run before the next case, and what waits or is read; the primary integrations are put back. */
  signal?: AbortSignal
}

export type ConformanceReport = Awaited<ReturnType<typeof runConformance>>

/** How often a case is judged when messages keep coming in. */
const ATTEMPTS = 4
/** How many of the changes before a request are shown with it. */
const MAX_SHOWN = 4

/**
 * Judges a target by all cases. The key is in no text of the report. Throws `StartError` when the target can't be reached
 * or rejects the key, so that there is nothing to judge.
 */
export async function runConformance(options: RunOptions) {
  const {
    url,
    signal,
    allowChanges = false,
    workflows = [],
    steps = [],
    integrations = []
  } = options
  const target = createTarget(options)
  const subject = createSubject(target, {
    ...options,
    allowChanges,
    workflows,
    steps,
    integrations
  })
  const hide = (text: string) => text.replaceAll(options.apiKey, '***')
  const date = new Date().toISOString()
  const started = performance.now()
  await checkAccess(subject, url, hide)

  const cases: CaseResult[] = []
  const isChosen = (each: ConformanceCase) =>
    options.only?.some((name) => isNamed(each, name)) ?? true
  const all = CASES.filter(
    (each) => isChosen(each) && (!each.documentOnly || options.profile === 'document')
  )
  let ended: string | undefined
  let restored: Awaited<ReturnType<Subject['integrations']['restore']>>
  try {
    for (const each of all) {
      if (signal?.aborted || ended !== undefined) break
      const { isGone, ...result } = await judge(each, subject, options)
      const { reason, requests } = result
      // It may have failed by that.
      if (signal?.aborted && reason !== undefined) break
      if (isGone) ended = hide(`the target answers no more (${reason}), since ${requests?.at(-1)}`)
      cases.push(reason === undefined ? result : { ...result, reason: hide(reason) })
    }
  } finally {
    restored = await subject.integrations.restore()
  }
  const notRun = all.slice(cases.length)
  const asked = { ...subject.options, url }
  const left = { outcome: 'skipped', reason: 'the run ended before', milliseconds: 0 } as const
  const count = (outcome: CaseResult['outcome']) =>
    cases.filter((each) => each.outcome === outcome).length
  return {
    target: url,
    /** When it was begun, in UTC. */
    date,
    milliseconds: Math.round(performance.now() - started),
    requests: target.requests(),
    counts: {
      passed: count('passed'),
      failed: count('failed'),
      noted: count('noted'),
      skipped: count('skipped')
    },
    operations: operationsReport(
      [...cases, ...notRun.map((each) => ({ ...each, ...left }))],
      asked
    ),
    profile: profileReport(cases),
    cases,
    /** Why not all cases were run: the target answers no more, and what it was last asked. */
    ...(ended !== undefined && { ended }),
    notRestored: restored.notRestored.map(hide),
    newPrimaries: restored.newPrimaries
  }
}

/** Throws `StartError` unless the target answers, and takes the key. */
async function checkAccess(
  { ask }: Subject,
  url: string,
  hide: (text: string) => string
): Promise<void> {
  const path = '/v1/messages?limit=1'
  const { status } = await ask(path).catch((error: Error) => {
    throw new StartError(
      hide(`${url}: ${error instanceof Failure ? `GET ${path}: ` : ''}${error.message}`)
    )
  })
  if (status === 401 || status === 403)
    throw new StartError(`${url} rejects the key: ${status} ${STATUS_CODES[status]}`)
}

/** Whether it is the id of a case, or the beginning of one. */
export function isCase(name: string): boolean {
  return CASES.some((each) => isNamed(each, name))
}

function isNamed({ id }: ConformanceCase, name: string): boolean {
  return id === name || id.startsWith(`${name}.`)
}

type Outcome = Pick<CaseResult, 'outcome' | 'reason' | 'flags' | 'requests' | 'position'> & {
  isGone?: boolean
}

/** Judges a case; again when it may have failed by messages that came in or changed since they were read. */
async function judge(
  { run, documentOnly: _, ...each }: ConformanceCase,
  subject: Subject,
  options: RunOptions
) {
  const started = performance.now()
  const judgeOnce = () => outcomeOf({ ...each, run }, subject, options)
  const isWrong = ({ outcome, isGone }: Outcome) => ['failed', 'noted'].includes(outcome) && !isGone
  let found = await judgeOnce()
  const mayChange = /^(paging|filter|wire\.list)\./.test(each.id)
  for (let attempt = 2; mayChange && isWrong(found); attempt++) {
    if (attempt > ATTEMPTS) {
      found = {
        outcome: 'skipped',
        reason: `messages kept coming in while it was judged; at last: ${found.reason}`
      }
      break
    }
    subject.forget()
    const newest = await newestOf(subject)
    found = await judgeOnce()
    if (newest === '' || newest === (await newestOf(subject))) break
  }
  return { ...each, ...found, milliseconds: Math.round(performance.now() - started) }
}

async function outcomeOf(
  { run, basis }: Pick<ConformanceCase, 'run' | 'basis'>,
  subject: Subject,
  { url, profile }: RunOptions
): Promise<Outcome> {
  subject.takeSent()
  try {
    const position = (await run(subject)) ?? undefined
    if (!position) return { outcome: 'passed' }
    if (profile === undefined || position === profile) return { outcome: 'passed', position }
    const reason = `it takes the position of the profile ${position}, not of ${profile}`
    return { outcome: 'failed', reason, position }
  } catch (error) {
    if (error instanceof Skipped) {
      return {
        outcome: 'skipped',
        reason: error.message,
        ...(error.flags && { flags: error.flags })
      }
    }
    const requests = requestsOf(error as Error, subject.takeSent()).map((sent) => curlOf(url, sent))
    const { message } = error as Error
    // What is no failure of ours is an answer that can't be read at all: a field of another type, or null.
    const reason = error instanceof Failure ? message : `an answer has another form: ${message}`
    const isBroken =
      error instanceof NoAnswer || error instanceof Breach || error instanceof TargetGone
    const outcome = isBroken || isFailure(basis, profile) ? 'failed' : 'noted'
    return { outcome, reason, requests, ...(error instanceof TargetGone && { isGone: true }) }
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

/** Returns what changes when a message comes in: the newest of the list, and how many there are. */
async function newestOf({ list }: Subject): Promise<string> {
  const page = await list({ limit: 1 }).catch(() => undefined)
  return page ? `${page.data[0]?._id} ${page.totalCount}` : ''
}
