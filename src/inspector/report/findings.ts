import type { RecordedRequest, SnapshotDifferences } from '../../client/index.js'
import type { ReportedTest } from '../../client/report.js'
import type { NoteProps } from '../views/requests/exchange.js'

/** Something to be known of a test, with the tab that its requests are in. */
export interface Finding extends Pick<NoteProps, 'tone' | 'message' | 'requests'> {
  tab?: string
}

/** Returns why a test failed and what it has probably not meant, what explains a failure best first. */
export function findingsOf({ error, hints, requests, keyless, left }: ReportedTest): Finding[] {
  const findings = hints.map(({ message, requests }): Finding => ({ tone: 'warn', message, requests }))
  const add = (about: readonly RecordedRequest[], finding: Finding) => {
    if (about.length > 0) findings.push({ ...finding, requests: about.map(({ sequence }) => sequence) })
  }
  // A refusal that a hint has told already is not told again.
  const told = hints.flatMap((hint) => hint.requests)
  const refused = requests.filter(
    ({ sequence, status = 0, flags }) => status >= 400 && flags.faulted === undefined && !told.includes(sequence)
  )
  const { status, method, path, reason } = refused.at(-1) ?? {}
  const hit = requests.filter(({ flags }) => flags.faulted !== undefined)
  const [remainder] = leftOf(left)
  const why = `without a valid key: ${keyless[0]?.reason ?? keyless[0]?.path}`
  if (error !== undefined) findings.unshift({ tone: 'bad', message: error })
  add(keyless, { tone: 'warn', message: `${counted(keyless.length, 'request')} came ${why}`, tab: 'keyless' })
  add(refused.slice(-1), { tone: 'warn', message: [`${status} ${method} ${path}`, reason].filter(Boolean).join(': ') })
  if (remainder) findings.push({ tone: 'accent', message: `left ${remainder}` })
  add(hit, { tone: 'fault', message: `${counted(hit.length, 'fault')} injected` })
  return findings
}

/**
 * Returns in words how a test's end differs from its beginning, such as `mailgun-eu as primary`, primaries first. Stored
 * idempotency keys are left out: each request with a key leaves one.
 */
export function leftOf(left: SnapshotDifferences | undefined): string[] {
  if (!left) return []
  const { idempotencyKeys: _, settings, ...kinds } = left
  const fields = kinds.integrations.changed.fields ?? []
  const risen = fields.filter(({ field, after }) => field === 'primary' && after === 'true')
  const records = Object.entries(kinds).flatMap(([kind, { added, changed, removed }]) =>
    Object.entries({ added, changed, removed }).flatMap(([how, { count, ids }]) => {
      const what = counted(count, kind.slice(0, -1))
      return count === 0 ? [] : [`${what} ${count === 1 ? `${ids[0]} ` : ''}${how}`]
    })
  )
  return [...risen.map(({ id }) => `${id} as primary`), ...records, ...settings.map((name) => `${name} changed`)]
}

function counted(count: number, noun: string): string {
  return `${count.toLocaleString()} ${noun}${count === 1 ? '' : 's'}`
}
