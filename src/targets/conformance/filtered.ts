import type { MessageResponse } from '../../messages/schemas.js'
import type { Page, Parameters, Sample } from '../answers.js'
import { check, checkSame, needed } from '../outcome.js'
import type { Subject } from './subject.js'

/** How many messages are compared. */
export const LIMIT = 100

export async function checkContext(
  subject: Subject,
  asked: readonly string[],
  meant: readonly string[],
  suffix: (index: number) => string = () => ''
): Promise<void> {
  const parameters = asked.map((key, index) => [`contextKeys${suffix(index)}`, key] as const)
  const expected = [...meant].sort().join('\n')
  await checkFiltered(subject, parameters, (message) => contextOf(message).join('\n') === expected)
}

/** Throws `Failure` unless the filtered list is the subset of the newest messages that the filter means. */
export async function checkFiltered(
  { list, sample }: Subject,
  parameters: Parameters,
  isMeant: (message: MessageResponse) => boolean
): Promise<void> {
  const page = await list([...parameters, ['limit', LIMIT]])
  const { request } = page.answer
  const stray = page.data.find((message) => !isMeant(message))
  check(stray === undefined, `${request}: message ${stray?._id} does not match`)
  const { found, expected } = comparable(page, await sample(), isMeant)
  const missing = expected.find((id) => !found.includes(id))
  check(missing === undefined, `${request}: message ${missing} matches and is missing`)
  checkSame(found, expected, `${request}: its messages and those of the whole list that match`)
}

/** What can be compared: the sample may end before the page does, and the page before the sample. */
function comparable({ data }: Page, { messages, isComplete }: Sample, isMeant: (message: MessageResponse) => boolean) {
  const ids = data.map(({ _id }) => _id)
  const expected = messages.filter(isMeant).map(({ _id }) => _id)
  if (isComplete) return { found: ids, expected: expected.slice(0, LIMIT) }
  const length = Math.min(ids.length, expected.length)
  return { found: ids.slice(0, length), expected: ids.length < LIMIT ? expected : expected.slice(0, length) }
}

export async function subscribersOf({ sample }: Subject): Promise<{ subscriber: string; _subscriberId: string }[]> {
  const { messages } = await sample()
  const known = new Map<string, string>()
  for (const { subscriber, _subscriberId } of messages) {
    if (subscriber?.subscriberId) known.set(subscriber.subscriberId, _subscriberId)
  }
  needed(known.size > 0, 'no message has its subscriber embedded')
  return [...known].slice(0, 3).map(([subscriber, _subscriberId]) => ({ subscriber, _subscriberId }))
}

export async function transactionsOf({ sample }: Subject, most: number): Promise<string[]> {
  const { messages } = await sample()
  return [...new Set(messages.map(({ transactionId }) => transactionId))].slice(0, most)
}

/** Returns the sets of contexts of messages, that of none excepted; an empty list if no message has one. */
export async function contextsOf({ sample }: Subject, most: number): Promise<string[][]> {
  const { messages } = await sample()
  const sets = new Map(messages.map((message) => [contextOf(message).join('\n'), contextOf(message)]))
  sets.delete('')
  return [...sets.values()].slice(0, most)
}

export function contextOf({ contextKeys }: MessageResponse): string[] {
  return [...new Set(contextKeys ?? [])].sort()
}
