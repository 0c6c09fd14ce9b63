import { setPrimaryPath, stepPath, unknownId } from '../answers.js'
import type { Answer, Target } from '../target.js'

/** Provokes a refusal of each kind that needs no change. */
export async function refusalsOf({ ask }: Pick<Target, 'ask'>): Promise<Answer[]> {
  const post = { method: 'POST' }
  return [
    await ask('/v1/messages?limit=3', { authorization: null }),
    await ask('/v1/messages', { authorization: 'Bearer abc' }),
    await ask('/v1/messages', { authorization: 'ApiKey' }),
    await ask('/v1/messages?limit=1&page=0', { authorization: `ApiKey ${UNKNOWN_KEY}` }),
    await ask(stepPath(unknownId(), unknownId()), { authorization: null }),
    await ask(setPrimaryPath(unknownId()), { ...post, authorization: null }),
    await ask('/v1/messages?page=-1&limit=5'),
    await ask(`${stepPath(unknownId(), 'none')}?x=1`),
    await ask(setPrimaryPath(unknownId()), post)
  ]
}

/** A key that nobody has. */
export const UNKNOWN_KEY = 'conformance-00000000000000000000'
