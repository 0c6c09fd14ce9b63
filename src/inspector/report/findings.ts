import type { RecordDifferences, SnapshotDifferences } from '../../client/index.js'
import type { ReportedTest } from '../../client/report.js'
import type { Tone } from '../parts/chip.js'

/** Something that a test has probably not meant, and the requests that it is about. */
export interface Finding {
  tone: Tone
  message: string
  /** Sequences of requests; of those without a valid key where `isKeyless`. */
  requests: readonly number[]
  isKeyless?: boolean
}

/** Returns what a test has probably not meant, what explains a failure best first. */
export function findingsOf({ hints, requests, keyless, left }: ReportedTest): Finding[] {
  const findings: Finding[] = hints.map(({ message, requests: about }) => ({ tone: 'warn', message, requests: about }))
  const [first] = keyless
  if (first) {
    const count = keyless.length === 1 ? 'a request' : `${keyless.length.toLocaleString()} requests`
    findings.push({
      tone: 'warn',
      message: `${count} came without a valid key: ${first.reason ?? first.path}`,
      requests: keyless.map(({ sequence }) => sequence),
      isKeyless: true
    })
  }
  // A refusal that a hint has told already is not told again.
  const told = new Set(findings.flatMap((finding) => (finding.isKeyless ? [] : finding.requests)))
  const refused = requests.filter(({ status = 0, flags }) => status >= 400 && flags.faulted === undefined)
  const last = refused.filter(({ sequence }) => !told.has(sequence)).at(-1)
  if (last) {
    const message = `${last.status} ${last.method} ${last.path}${last.reason === undefined ? '' : `: ${last.reason}`}`
    findings.push({ tone: 'warn', message, requests: [last.sequence] })
  }
  const [remainder] = left ? leftOf(left) : []
  if (remainder !== undefined) findings.push({ tone: 'accent', message: `left ${remainder}`, requests: [] })
  const hit = requests.filter(({ flags }) => flags.faulted !== undefined)
  if (hit.length > 0) {
    const message = hit.length === 1 ? 'a fault was injected' : `${hit.length} faults were injected`
    findings.push({ tone: 'fault', message, requests: hit.map(({ sequence }) => sequence) })
  }
  return findings
}

const KINDS: Record<Exclude<keyof SnapshotDifferences, 'settings' | 'idempotencyKeys'>, [one: string, many: string]> = {
  integrations: ['integration', 'integrations'],
  messages: ['message', 'messages'],
  workflows: ['workflow', 'workflows'],
  subscribers: ['subscriber', 'subscribers']
}

/**
 * Returns in words how a test's end differs from its beginning, such as `mailgun-eu as primary`, primaries first. Stored
 * idempotency keys are left out: each request with a key leaves one.
 */
export function leftOf({ idempotencyKeys: _, settings, ...kinds }: SnapshotDifferences): string[] {
  const primaries = (kinds.integrations.changed.fields ?? []).filter(({ field }) => field === 'primary')
  const risen = primaries.filter(({ after }) => after === 'true').map(({ id }) => `${id} as primary`)
  const others = Object.entries(kinds).flatMap(([kind, differences]) =>
    (['added', 'changed', 'removed'] as const).flatMap((change) => {
      const { count, ids } = differences[change]
      const isTold = kind === 'integrations' && change === 'changed' && count === primaries.length && risen.length > 0
      return count === 0 || isTold ? [] : [countText(KINDS[kind as keyof typeof KINDS], change, count, ids)]
    })
  )
  return [...risen, ...others, ...(settings.length > 0 ? [`another ${settings.join(', ')}`] : [])]
}

function countText(
  [one, many]: [string, string],
  change: keyof RecordDifferences,
  count: number,
  ids: readonly string[]
): string {
  return count === 1 ? `${one} ${ids[0]} ${change}` : `${count.toLocaleString()} ${many} ${change}`
}
