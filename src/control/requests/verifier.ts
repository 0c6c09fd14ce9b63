import { DomainError } from '../../core/errors.js'
import type { Environment } from '../../environments/service.js'
import type { Services } from '../services.js'
import type { JournalEntry } from './entry.js'
import type { RequestPattern, Verification } from './schemas.js'
import { describeInTurns, type Journal } from './service.js'
import {
  isMatching,
  matches,
  mayMatch,
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
  const { after, inOrder = [verification] } = verification
  const isCandidate = (entry: JournalEntry) => inOrder.some((pattern) => mayMatch(entry, pattern))
  await describeInTurns(journal.requests(after).filter(isCandidate))
  const verdict = await waitForVerdict(journal, verification, signal)
  const { holds, matched } = verdict
  const lost = journal.lost(after)
  if (holds) return { matched: matched.length, requests: matched, ...(lost > 0 && { lost }) }

  if (!failures.has(verdict)) await describeInTurns(journal.requests(after))
  const failure = failures.get(verdict) ?? explain(verdict)
  failures.set(verdict, failure)
  throw failure

  function explain({ finding, missing }: Verdict): DomainError {
    const nearest = missing ? nearMisses(journal.requests(after), missing) : []
    const elsewhere = missing ? findElsewhere(missing.pattern, environment, services) : []
    const forgotten = lost > 0 ? [`${lost} older requests are no longer in the journal`] : []
    return new DomainError('expectation-failed', finding, {
      reason: [finding, ...elsewhere, ...nearest.slice(0, 1).map(formatNearMiss), ...forgotten].join('; '),
      ctx: { matched, nearest, elsewhere, ...(lost > 0 && { lost }) }
    })
  }
}

/** What those who wait for the same are told together, as it takes long to find out. */
const failures = new WeakMap<Verdict, DomainError>()

/** Resolves with the verdict as soon as it is final, `within` is over, the journal closes or the signal aborts. */
async function waitForVerdict(journal: Journal, verification: Verification, signal: AbortSignal): Promise<Verdict> {
  const { within, after } = verification
  const first = verify(journal.requests(after), verification)
  if (within === undefined || first.final || journal.closed) return first

  const wait = waitFor(journal, verification)
  return new Promise((resolve) => {
    const finish = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', finish)
      wait.leave(finish)
      resolve(wait.judge())
    }
    const timer = setTimeout(finish, within)
    signal.addEventListener('abort', finish)
    wait.waiting.add(finish)
  })
}

/** One wait for all who wait for the same: thousands of them are judged as one. */
interface Wait {
  /** Called when the verdict is final, or the journal closes. */
  waiting: Set<() => void>
  judge(): Verdict
  leave(finish: () => void): void
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
  const waiting = new Set<() => void>()
  let judged: { version: number; verdict: Verdict } | undefined
  journal.listeners.add(check)
  return {
    waiting,
    judge,
    leave(finish) {
      waiting.delete(finish)
      if (waiting.size > 0) return
      journal.listeners.delete(check)
      onEmpty()
    }
  }

  function judge(): Verdict {
    const { version } = journal
    if (judged?.version !== version) judged = { version, verdict: verify(journal.requests(after), verification) }
    return judged.verdict
  }

  function check(entry?: JournalEntry): void {
    const isRelevant = entry && inOrder.some((pattern) => matches(entry, pattern))
    if (!entry || (isRelevant && judge().final)) for (const finish of [...waiting]) finish()
  }
}

/** Bytes of other environments' requests that are described at most to find a match: some thousand requests. */
const MAX_SEARCHED = 1024 * 1024

/** Returns sentences on matching requests that came with another key: the most common reason for a missing request. */
function findElsewhere(pattern: RequestPattern, own: Environment, { journals, environments }: Services): string[] {
  let left = MAX_SEARCHED
  const isIn = (journal: Journal) =>
    journal
      .requests()
      .reverse()
      .some((entry) => {
        if (left <= 0 || !mayMatch(entry, pattern)) return false
        left -= entry.length
        return isMatching(entry.peek(), pattern)
      })
  const isOwn = (other: Environment) => other.organizationId === own.organizationId
  const others = environments.list().filter((other) => other.key !== own.key)
  const owners = [
    ...others.filter((other) => isOwn(other) && isIn(journals.of(other))),
    ...others.filter((other) => !isOwn(other) && isIn(journals.of(other)))
  ].map((other) =>
    isOwn(other)
      ? `with the key of environment ${other.name}`
      : 'with the key of an environment of another organization'
  )
  if (isIn(journals.of(undefined))) owners.push('without a valid key')
  const found = [...new Set(owners)].map((owner) => `such a request came ${owner}`)
  return left > 0 ? found : [...found, 'not all requests of other environments were looked at']
}

function formatNearMiss({ request, differs }: ReturnType<typeof nearMisses>[number]): string {
  const fields = differs.map(({ field, actual }) => `${field} is ${JSON.stringify(actual) ?? 'missing'}`)
  const unread = [...request.unread.query, ...request.unread.headers].join(', ')
  const hint = unread && `; it has parameters or headers that are not read: ${unread}`
  return `nearest is request ${request.sequence}, where ${fields.join(' and ')}${hint}`
}

const JOURNAL_OFF = new DomainError('bad-request', 'The journal is turned off', {
  reason: 'the server was started without a journal (--journal 0), so it can not verify requests'
})
