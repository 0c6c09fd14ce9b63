import type { MessageResponse } from '../../../messages/schemas.js'
import { check, checkSame, readPage } from '../../response-checks.js'
import type { ServiceUnderTest } from '../../service-under-test.js'

/** The page size of all filtered lists. */
export const LIMIT = 100

export type Matches = (message: MessageResponse) => boolean

/**
 * Throws `Failure` unless the page has exactly the newest matching messages, in the order of the
 * unfiltered list.
 */
export async function checkFilter(
  { send, sample }: ServiceUnderTest,
  path: string,
  matches: Matches
): Promise<void> {
  const { data, response } = readPage(await send(path))
  const mismatch = data.find((message) => !matches(message))
  check(mismatch === undefined, `message ${mismatch?._id} does not match the filter`, response)
  const { messages, isComplete } = await sample()
  const ids = data.map(({ _id }) => _id)
  const matchingIds = messages.filter(matches).map(({ _id }) => _id)
  // If the sample isn't the whole list, compare only messages that are new enough to be in both the
  // page and the sample.
  const length = isComplete ? LIMIT : Math.min(ids.length, matchingIds.length)
  const actual = ids.slice(0, length)
  const expected = ids.length < LIMIT ? matchingIds : matchingIds.slice(0, length)
  const missing = expected.find((id) => !actual.includes(id))
  check(missing === undefined, `message ${missing} matches the filter but is missing`, response)
  checkSame(
    actual,
    expected,
    'the filtered list and the matching messages of the unfiltered list',
    response
  )
}
