import {
  type ConformanceReport,
  type RunOptions,
  runConformance
} from '../../../src/remote/conformance/run.js'
import { DEVELOPMENT } from '../../support/control.js'
import type { TestMock } from '../../support/mock.js'

/** Judges a target with the key of the first environment of the default seed. */
export function judge(url: string, options: Partial<RunOptions> = {}): Promise<ConformanceReport> {
  return runConformance({ url, apiKey: DEVELOPMENT, ...options })
}

export const failedIn = ({ cases }: ConformanceReport) =>
  cases.filter(({ outcome }) => outcome === 'failed').map(({ id, reason }) => `${id}: ${reason}`)

export const idsOf = ({ cases }: ConformanceReport, outcome: string) =>
  cases.filter((each) => each.outcome === outcome).map(({ id }) => id)

/** Returns the `_id` of the primary integration of channel email. */
export async function primaryOf(mock: Pick<TestMock, 'get'>): Promise<string | undefined> {
  const { integrations } = (await mock.get('/_mock/integrations')).json
  const all: { _id: string; channel: string; primary: boolean }[] = integrations
  return all.find(({ channel, primary }) => channel === 'email' && primary)?._id
}
