import type { RecordedExchange } from '../../../client/index.js'
import type { ServiceResponse } from '../../shell/session.js'
import type { RequestSource } from './use-requests.js'

/**
 * Returns the recorded request that got this response. Checks only the newest request in the
 * journal, so it returns undefined if another request has arrived since.
 */
export async function findRecorded(
  source: RequestSource,
  { headers }: ServiceResponse
): Promise<RecordedExchange | undefined> {
  const [newest] = await source.list({ order: 'newest', limit: 1 })
  const recorded = newest && (await source.get(newest.sequence))
  const isSame = recorded?.response?.headers['x-request-id'] === headers['x-request-id']
  return isSame ? recorded : undefined
}
