import {
  type ConformanceReport,
  type RunOptions,
  runConformance
} from '../../../src/remote/conformance/run.js'
import { DEVELOPMENT } from '../../support/control.js'
import type { TestMock } from '../../support/mock.js'

/** Runs the cases against a target, with the API key of the default seed's first environment. */
export function checkTarget(
  url: string,
  options: Partial<RunOptions> = {}
): Promise<ConformanceReport> {
  return runConformance({ url, apiKey: DEVELOPMENT, ...options })
}

export const failuresIn = ({ cases }: ConformanceReport) =>
  cases.filter(({ outcome }) => outcome === 'failed').map(({ id, reason }) => `${id}: ${reason}`)

export const caseIdsWith = ({ cases }: ConformanceReport, outcome: string) =>
  cases.filter((result) => result.outcome === outcome).map(({ id }) => id)

/** Returns the `_id` of the primary integration in the channel `email`. */
export async function primaryEmail(mock: Pick<TestMock, 'get'>): Promise<string | undefined> {
  const { integrations } = (await mock.get('/_mock/integrations')).json
  const listed: { _id: string; channel: string; primary: boolean }[] = integrations
  return listed.find(({ channel, primary }) => channel === 'email' && primary)?._id
}
