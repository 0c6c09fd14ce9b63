import { clearTimeout, setTimeout } from 'node:timers'
import { DomainError } from '../../core/errors.js'
import { nextTurn, runInSlices } from '../../core/slices.js'
import type { Environment } from '../../environments/service.js'
import type { Services } from '../services.js'
import type { JournalEntry } from './entry.js'
import type { RequestPattern, Verification } from './schemas.js'
import type { Journal } from './service.js'
import {
  isMatching,
  matches,
  mayMatch,
  type NearMiss,
  nearMisses,
  rejectContradictions,
  type Verdict,
  verify
} from './verification.js'

/**
 * Returns the requests that fulfil the verification, at once or, with `within`, as soon as the verdict is final.
 *
 * Throws `expectation-failed`, with the requests that came closest, when it does not hold in time; `invalid` when it
 * contradicts itself; `bad-request` when the server keeps no journal. The signal ends the wait early.
 */
export async function verifyRequests(
  services: Services,
  environment: Environment,
  verification: Verification,
  signal: AbortSignal
) {
  rejectContradictions(verification)
  const journal = services.journals.of(environment)
  if (journal.capacity === 0) throw JOURNAL_OFF
  const verdict = await waitForVerdict(journal, verification, signal)
  const { holds, matched } = verdict
  const lost = journal.lost(verification.after)
  if (holds) return { matched: matched.length, requests: matched, ...(lost > 0 && { lost }) }

  const failure = failures.get(verdict) ?? runInSlices(explain(verdict))
  failures.set(verdict, failure)
  throw await failure

  function* explain({ finding, missing }: Verdict): Generator<void, DomainError> {
    const nearest = missing ? yield* nearMisses(journal.requests(verification.after), missing) : []
    const elsewhere = missing ? yield* findElsewhere(missing.pattern, environment, services) : []
    const forgotten = lost > 0 ? [`${lost} older requests are no longer in the journal`] : []
    return new DomainError('expectation-failed', finding, {
      reason: [finding, ...elsewhere, ...nearest.slice(0, 1).map(formatNearMiss), ...forgotten].join('; '),
      ctx: { matched, nearest, elsewhere, ...(lost > 0 && { lost }) }
    })
  }
}

/** What those who wait for the same are told together, as it takes long to find out. */
const failures = new WeakMap<Verdict, Promise<DomainError>>()

/** Resolves with the verdict as soon as it is final, `within` is over, the journal closes or the signal aborts. */
async function waitForVerdict(journal: Journal, verification: Verification, signal: AbortSignal): Promise<Verdict> {
  const { within, after } = verification
  if (within === undefined) return runInSlices(verify(journal.requests(after), verification))

  const wait = waitFor(journal, verification)
  let finish: Finish = () => {}
  const over = new Promise<Verdict | undefined>((resolve) => {
    finish = resolve
  })
  const onOver = () => finish()
  const timer = setTimeout(onOver, within)
  signal.addEventListener('abort', onOver)
  // Before it is judged for the first time, so that no request is missed meanwhile.
  wait.waiting.add(finish)
  try {
    const first = await wait.judge()
    if (first.final || journal.closed || signal.aborted) return first
    return (await over) ?? (await wait.judge())
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', onOver)
    wait.leave(finish)
  }
}

/** Called with a verdict that is final, or with none when the wait is over. */
type Finish = (verdict?: Verdict) => void

/** One wait for all who wait for the same: thousands of them are judged as one. */
interface Wait {
  waiting: Set<Finish>
  judge(): Promise<Verdict>
  leave(finish: Finish): void
}

const waits = new WeakMap<Journal, Map<string, Wait>>()

function waitFor(journal: Journal, { within: _, ...verification }: Verification): Wait {
  const ofJournal = waits.get(journal) ?? new Map<string, Wait>()
  waits.set(journal, ofJournal)
  const key = JSON.stringify(verification)
  const wait = ofJournal.get(key) ?? createWait(journal, verification, () => ofJournal.delete(key))
  ofJournal.set(key, wait)
  return wait
}

function createWait(journal: Journal, verification: Verification, onEmpty: () => void): Wait {
  const { after, inOrder = [verification] } = verification
  const waiting = new Set<Finish>()
  /** Requests that have arrived or ended, and have not been looked at since. */
  const changed = new Set<JournalEntry>()
  let isChecking = false
  let judged: { version: number; verdict: Promise<Verdict> } | undefined
  journal.listeners.add(onChange)
  return {
    waiting,
    judge,
    leave(finish) {
      waiting.delete(finish)
      if (waiting.size > 0) return
      journal.listeners.delete(onChange)
      onEmpty()
    }
  }

  function judge(): Promise<Verdict> {
    const { version } = journal
    if (judged?.version !== version) {
      judged = { version, verdict: runInSlices(verify(journal.requests(after), verification)) }
    }
    return judged.verdict
  }

  function onChange(entry?: JournalEntry): void {
    if (entry) changed.add(entry)
    else finishAll()
    if (!entry || isChecking) return
    isChecking = true
    // Thousands of different waits would else be judged before the request is answered.
    void nextTurn()
      .then(() => runInSlices(check()))
      // They then judge it themselves, and reject.
      .catch(() => finishAll())
  }

  function* check(): Generator<void, void> {
    try {
      while (changed.size > 0 && waiting.size > 0) {
        let isRelevant = false
        for (const entry of changed) {
          changed.delete(entry)
          isRelevant ||= inOrder.some((pattern) => matches(entry, pattern))
          yield
        }
        if (!isRelevant) continue
        const verdict = yield* verify(journal.requests(after), verification)
        if (verdict.final) finishAll(verdict)
      }
    } finally {
      isChecking = false
    }
  }

  function finishAll(verdict?: Verdict): void {
    for (const finish of waiting) finish(verdict)
  }
}

/** Bytes of other environments' requests that are described at most to find a match: some thousand requests. */
const MAX_SEARCHED = 1024 * 1024

/** Returns sentences on matching requests that came with another key: the most common reason for a missing request. */
function* findElsewhere(pattern: RequestPattern, own: Environment, { journals, environments }: Services) {
  let left = MAX_SEARCHED
  const isOwn = ({ organizationId }: Environment) => organizationId === own.organizationId
  const others = environments.list().filter((other) => other.key !== own.key)
  const searched = [
    ...others.filter(isOwn).map((other) => [`with the key of environment ${other.name}`, other] as const),
    ...others.filter((other) => !isOwn(other)).map((other) => [FOREIGN, other] as const),
    ['without a valid key', undefined] as const
    // All at once, as an environment that is removed meanwhile must not get another journal.
  ].map(([owner, other]) => [owner, journals.of(other)] as const)
  const owners = new Set<string>()
  for (const [owner, journal] of searched) {
    for (const entry of owners.has(owner) ? [] : journal.requests().reverse()) {
      yield
      if (left <= 0 || owners.has(owner) || !mayMatch(entry, pattern)) continue
      left -= entry.length
      if (isMatching(entry.peek(), pattern)) owners.add(owner)
    }
  }
  const found = [...owners].map((owner) => `such a request came ${owner}`)
  return left > 0 ? found : [...found, 'not all requests of other environments were looked at']
}

const FOREIGN = 'with the key of an environment of another organization'

function formatNearMiss({ request, differs }: NearMiss): string {
  const fields = differs.map(({ field, actual }) => `${field} is ${JSON.stringify(actual) ?? 'missing'}`)
  const unread = [...request.unread.query, ...request.unread.headers].join(', ')
  const hint = unread && `; it has parameters or headers that are not read: ${unread}`
  return `nearest is request ${request.sequence}, where ${fields.join(' and ')}${hint}`
}

const JOURNAL_OFF = new DomainError('bad-request', 'The journal is turned off', {
  reason: 'the server was started without a journal (--journal 0), so it can not verify requests'
})
