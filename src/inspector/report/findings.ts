import type { RecordedRequest } from '../../client/index.js'
import type { ReportedTest } from '../../client/report.js'
import type { DiffEntry } from '../views/diff.js'
import type { Finding } from '../views/requests/finding.js'

/** A finding. `tab` is the id of the tab with the finding's requests; `requests` by default. */
export type EntryFinding = Finding & { tab?: string }

/**
 * Returns the findings about a test: first its error, then possible explanations, with the most
 * likely one first.
 */
export function findingsOf(
  test: ReportedTest,
  unauthenticated: readonly RecordedRequest[],
  leftovers: readonly DiffEntry[]
): EntryFinding[] {
  const findings = [
    errorFinding(test),
    ...attemptFindings(test),
    ...test.hints.map(
      ({ message, requests }): EntryFinding => ({ tone: 'warn', message, requests })
    ),
    unauthenticatedFinding(unauthenticated),
    rejectionFinding(test),
    leftoverFinding(leftovers),
    faultFinding(test)
  ]
  return findings.filter((finding) => finding !== undefined)
}

function errorFinding({ error }: ReportedTest): EntryFinding | undefined {
  return error === undefined ? undefined : { tone: 'bad', message: error }
}

/** Returns findings about the attempt that passed and the errors of the earlier attempts. */
function attemptFindings({ outcome, attempt, earlierAttempts }: ReportedTest): EntryFinding[] {
  if (!earlierAttempts) return []
  const messages = earlierAttempts.map(
    ({ attempt: number = 1, error = 'no error message' }) => `attempt ${number} failed: ${error}`
  )
  if (outcome === 'passed') messages.unshift(`passed on attempt ${attempt}`)
  return messages.map((message) => ({ tone: 'warn', message }))
}

function unauthenticatedFinding(
  unauthenticated: readonly RecordedRequest[]
): EntryFinding | undefined {
  const [first] = unauthenticated
  if (!first) return undefined
  const noun = unauthenticated.length === 1 ? 'request' : 'requests'
  return {
    tone: 'warn',
    message: `${unauthenticated.length} ${noun} without a valid key: ${first.reason ?? first.path}`,
    requests: sequencesOf(unauthenticated),
    tab: 'unauthenticated'
  }
}

/** Returns a finding about the last rejected request that no fault or hint explains. */
function rejectionFinding({ requests, hints }: ReportedTest): EntryFinding | undefined {
  const hinted = new Set(hints.flatMap((hint) => hint.requests))
  const rejected = requests.findLast(
    (request) => (request.status ?? 0) >= 400 && !hasFault(request) && !hinted.has(request.sequence)
  )
  if (!rejected) return undefined
  const { status, method, path, reason, sequence } = rejected
  const message = [`${status} ${method} ${path}`, reason].filter(Boolean).join(': ')
  return { tone: 'warn', message, requests: [sequence] }
}

/**
 * Returns a finding about one leftover change of the test. Prefers the first change that made an
 * integration primary.
 */
function leftoverFinding(leftovers: readonly DiffEntry[]): EntryFinding | undefined {
  const [first] = leftovers
  if (!first) return undefined
  const newPrimary = leftovers.find(({ fields }) =>
    fields.some(({ field, after }) => field === 'primary' && after === 'true')
  )
  const message = newPrimary
    ? `leftover change: ${nameOf(newPrimary)} became primary`
    : `leftover change: ${first.description}: ${nameOf(first)}`
  return { tone: 'accent', message }
}

/** Returns a changed record's label and id, or only the id if the record has no label. */
const nameOf = ({ label, id }: DiffEntry) => (label === undefined ? id : `${label} (${id})`)

function faultFinding({ requests }: ReportedTest): EntryFinding | undefined {
  const hit = requests.filter(hasFault)
  if (hit.length === 0) return undefined
  return { tone: 'fault', message: `injected faults: ${hit.length}`, requests: sequencesOf(hit) }
}

const hasFault = ({ flags }: RecordedRequest) => flags.faulted !== undefined

const sequencesOf = (requests: readonly RecordedRequest[]) =>
  requests.map(({ sequence }) => sequence)
