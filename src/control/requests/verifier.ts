import { DomainError } from '../../core/errors.js'
import type { Environment } from '../../environments/service.js'
import type { Services } from '../services.js'
import type { JournalEntry } from './entry.js'
import type { RequestPattern, Verification } from './schemas.js'
import type { Journal } from './service.js'
import { matches, nearMisses, rejectContradictions, type Verdict, verify } from './verification.js'

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
  const { holds, matched, finding, missing } = await waitForVerdict(journal, verification, signal)
  const lost = journal.lost(verification.after)
  if (holds) return { matched: matched.length, requests: matched, ...(lost > 0 && { lost }) }

  const nearest = missing ? nearMisses(journal.requests(verification.after), missing) : []
  const elsewhere = missing ? findElsewhere(missing.pattern, environment, services) : []
  const forgotten = lost > 0 ? [`${lost} older requests are no longer in the journal`] : []
  throw new DomainError('expectation-failed', finding, {
    reason: [finding, ...elsewhere, ...nearest.slice(0, 1).map(formatNearMiss), ...forgotten].join('; '),
    ctx: { matched, nearest, elsewhere, ...(lost > 0 && { lost }) }
  })
}

/** Resolves with the verdict as soon as it is final, `within` is over, the journal closes or the signal aborts. */
async function waitForVerdict(journal: Journal, verification: Verification, signal: AbortSignal): Promise<Verdict> {
  const { within, after, inOrder = [verification] } = verification
  const judge = () => verify(journal.requests(after), verification)
  const first = judge()
  if (within === undefined || first.final || journal.closed) return first

  return new Promise((resolve) => {
    const timer = setTimeout(finish, within)
    journal.listeners.add(check)
    signal.addEventListener('abort', finish)

    function check(entry?: JournalEntry): void {
      const request = entry?.toRecordedRequest()
      const isRelevant = request && inOrder.some((pattern) => matches(request, pattern))
      if (!request || (isRelevant && judge().final)) finish()
    }

    function finish(): void {
      clearTimeout(timer)
      journal.listeners.delete(check)
      signal.removeEventListener('abort', finish)
      resolve(judge())
    }
  })
}

/** Returns sentences on matching requests that came with another key: the most common reason for a missing request. */
function findElsewhere(pattern: RequestPattern, own: Environment, { journals, environments }: Services): string[] {
  const isIn = (journal: Journal) => journal.requests().some((request) => matches(request, pattern))
  const found = environments.list().filter((other) => other.key !== own.key && isIn(journals.of(other)))
  const owners = found.map((other) =>
    other.organizationId === own.organizationId
      ? `with the key of environment ${other.name}`
      : 'with the key of an environment of another organization'
  )
  if (isIn(journals.of(undefined))) owners.push('without a valid key')
  return [...new Set(owners)].map((owner) => `such a request came ${owner}`)
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
