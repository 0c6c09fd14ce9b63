import { SECRET_NAME } from '../../core/credentials.js'
import { StartError } from '../../core/errors.js'
import { isObject } from '../answers.js'
import type { Answer, Target } from '../target.js'
import { askForAny, notAnObject, refuseRedirect } from './asking.js'
import { type Difference, differencesOf, VOLATILE } from './differences.js'
import { personalDataReplacement } from './personal.js'
import type { Question, Questions } from './questions.js'
import { createReplacer, type Replacer } from './replace.js'

export interface Comparison {
  /** How many questions were asked, and how many of those given could not be. */
  asked: number
  skipped: number
  same: number
  differences: (Question & Difference)[]
  /** What was not compared. */
  leftOut: readonly string[]
}

interface Options extends Questions {
  target: Target
  ours: Target
  /** The key by which personal data in ours was replaced, if it was. */
  replacedBy?: string | undefined
  onProgress(asked: number): void
}

/**
 * Asks both servers all questions, one after the other, and returns what differs. An answer that is none of the service,
 * also after asking again, is compared as it is. Rejects with `StartError` when a server is not there at all.
 */
export async function compareAnswers({
  target,
  ours,
  questions,
  skipped,
  replacedBy,
  onProgress
}: Options): Promise<Comparison> {
  const replacer = replacedBy === undefined ? undefined : createReplacer(replacedBy)
  const differences: Comparison['differences'] = []
  let same = 0
  for (const server of [target, ours]) await checkThere(server)
  for (const [index, question] of questions.entries()) {
    const { method, path } = question
    const theirs = await askForAny(target, path, { method, check: notAnObject })
    const ownPath = replacer ? replacedPath(path, replacer) : path
    const answer = await askForAny(ours, ownPath, { method, check: notAnObject })
    const expected = theirs && replacer ? replacedAnswer(theirs, replacer, path, ownPath) : theirs
    const found =
      expected && answer
        ? differencesOf(question, expected, answer)
        : [{ field: 'status', target: expected?.status ?? NO_ANSWER, ours: answer?.status ?? NO_ANSWER }]
    if (found.length === 0) same += 1
    differences.push(...found.map((each) => ({ ...question, ...withoutSecrets(each) })))
    onProgress(index + 1)
  }
  return { asked: questions.length, skipped, same, differences, leftOut: VOLATILE }
}

const NO_ANSWER = 'no answer'

async function checkThere(server: Target): Promise<void> {
  const answer = await askForAny(server, '/v1/messages?limit=1')
  if (!answer) throw new StartError(`${server.url} gives no answer: is the server running there?`)
  refuseRedirect(answer)
}

function withoutSecrets(difference: Difference): Difference {
  if (!difference.field.split(/[.[\]]/).some((name) => SECRET_NAME.test(name))) return difference
  const { target, ours } = difference
  return { ...difference, ...(target !== undefined && { target: '***' }), ...(ours !== undefined && { ours: '***' }) }
}

/** The same question by the values that a recording has in place of those of the target. */
function replacedPath(path: string, replacer: Replacer): string {
  const [pathname, query] = path.split('?', 2)
  if (query === undefined || !pathname?.endsWith('/v1/messages')) return path
  const pairs = [...new URLSearchParams(query)].map(([name, value]): [string, string] => {
    const [field] = name.split('[')
    if (value === '') return [name, value]
    if (field === 'subscriberId') return [name, replacer.subscriberId(value)]
    if (field === 'transactionId') return [name, replacer.transactionId(value)]
    // One that is none has no replacement.
    return [name, field === 'contextKeys' && /^[^:]+:.+$/.test(value) ? replacer.contextKey(value) : value]
  })
  return `${pathname}?${new URLSearchParams(pairs)}`
}

function replacedAnswer(answer: Answer, replacer: Replacer, path: string, ownPath: string): Answer {
  const { body, status } = answer
  if (!isObject(body)) return answer
  if (status !== 200) return { ...answer, body: { ...body, message: asAsked(body.message, path, ownPath) } }
  const replacement = personalDataReplacement(replacer, false)
  if (Array.isArray(body.data)) {
    return {
      ...answer,
      body: { ...body, data: body.data.map((each) => (isObject(each) ? replacement.message(each as never) : each)) }
    }
  }
  const isWrapped = isObject(body.data)
  const step = replacement.step((isWrapped ? body.data : body) as never) as Record<string, unknown>
  // The same object twice, where the service shows it so.
  if (isObject(step.controls) && 'values' in step.controls)
    step.controls = { ...step.controls, values: step.controlValues }
  return { ...answer, body: isWrapped ? { data: step } : step }
}

/** The message of an error that repeats a value of the question, with the value that stands for it. */
function asAsked(message: unknown, path: string, ownPath: string): unknown {
  if (typeof message !== 'string') return message
  const [values, ownValues] = [path, ownPath].map((each) => [...new URLSearchParams(each.split('?')[1]).values()])
  return (values ?? []).reduce(
    (text, value, index) => (value ? text.replaceAll(value, ownValues?.[index] ?? value) : text),
    message
  )
}
