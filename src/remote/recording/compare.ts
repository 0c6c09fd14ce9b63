import { SECRET_NAME } from '../../domain/credentials.js'
import { StartError } from '../../domain/errors.js'
import { isTooDeep, MAX_DEPTH } from '../../schema/validation.js'
import { type Answer, isObject } from '../response-checks.js'
import type { Target } from '../target.js'
import { notAnObject, refuseRedirect } from './asking.js'
import { type Difference, differencesOf, VOLATILE } from './differences.js'
import { namesIn } from './names.js'
import type { Question, Questions } from './questions.js'
import { createReplacement, type Replacement } from './replacement.js'

export interface Comparison {
  /** How many questions were asked, and how many of those given could not be. */
  asked: number
  skipped: number
  same: number
  differences: (Question & Difference)[]
  leftOut: readonly string[]
}

interface Options extends Questions {
  target: Target
  ours: Target
  /** The key by which personal data in ours was replaced, if it was. */
  replacedBy?: string | undefined
  onProgress(asked: number): void
}

/** The depth of what is around a record in an answer. */
const AROUND = 3

/**
 * Asks both servers all questions, one after the other, and returns what differs. An answer that is none of the service,
 * also after asking again, is compared as it is. Rejects with `StartError` when a server is not there at all.
 */
export async function compareAnswers(options: Options): Promise<Comparison> {
  const { target, ours, questions, skipped, replacedBy, onProgress } = options
  const differences: Comparison['differences'] = []
  let same = 0
  for (const { url, askAgain } of [target, ours]) {
    const { answer, problem } = await askAgain('/v1/messages?limit=1', { tries: 2 })
    if (!answer) throw new StartError(`${url}: ${problem}: is the server running there?`)
    refuseRedirect(answer)
  }
  const usual =
    replacedBy === undefined ? undefined : createReplacement(replacedBy, 'nothing', () => false)
  for (const [index, question] of questions.entries()) {
    const { path } = question
    const ownPath = usual ? replacedPath(path, usual) : path
    const theirs = await answerTo(target, question)
    const own = await answerTo(ours, { ...question, path: ownPath })
    const isAnswered = typeof theirs !== 'string' && typeof own !== 'string'
    const found = isAnswered
      ? compared(theirs, own)
      : [{ field: 'status', target: toldOf(theirs), ours: toldOf(own) }]
    if (found.length === 0) same += 1
    differences.push(...found.map((each) => ({ ...question, ...withoutSecrets(each) })))
    onProgress(index + 1)

    function compared(answer: Answer, expected: Answer): Difference[] {
      if (replacedBy === undefined) return differencesOf(question, answer, expected)
      // The recording has kept the names of fields that ours has.
      const names = namesIn(expected.body)
      const replacement = createReplacement(replacedBy, 'nothing', (name) => names.has(name))
      return differencesOf(question, replacedAnswer(answer, replacement, path, ownPath), expected)
    }
  }
  return { asked: questions.length, skipped, same, differences, leftOut: VOLATILE }
}

/** Resolves to the answer, or to why there is none that can be compared. */
async function answerTo(
  { askAgain }: Target,
  { method, path }: Question
): Promise<Answer | string> {
  const { answer, problem } = await askAgain(path, { method, check: notAnObject, tries: 2 })
  if (!answer) return problem ?? 'no answer'
  return isTooDeep(answer.body, MAX_DEPTH + AROUND)
    ? `is nested more than ${MAX_DEPTH} deep`
    : answer
}

const toldOf = (answer: Answer | string) => (typeof answer === 'string' ? answer : answer.status)

function withoutSecrets(difference: Difference): Difference {
  if (!difference.field.split(/[.[\]]/).some((name) => SECRET_NAME.test(name))) return difference
  return JSON.parse(
    JSON.stringify(difference, (name, value) => (/^(target|ours)$/.test(name) ? '***' : value))
  )
}

/** The same question by the values that a recording has in place of those of the target. */
function replacedPath(
  path: string,
  { subscriberId, transactionId, contextKey }: Replacement
): string {
  const [pathname, query] = path.split('?', 2)
  if (query === undefined || !pathname?.endsWith('/v1/messages')) return path
  const pairs = [...new URLSearchParams(query)].map(([name, value]): [string, string] => {
    const [field] = name.split('[')
    if (field === 'subscriberId') return [name, subscriberId(value)]
    if (field === 'transactionId') return [name, transactionId(value)]
    // One that is none has no replacement.
    return [name, field === 'contextKeys' && /^[^:]+:.+$/.test(value) ? contextKey(value) : value]
  })
  return `${pathname}?${new URLSearchParams(pairs)}`
}

function replacedAnswer(
  answer: Answer,
  replacement: Replacement,
  path: string,
  ownPath: string
): Answer {
  const { body, status } = answer
  if (!isObject(body)) return answer
  if (status !== 200)
    return { ...answer, body: { ...body, message: asAsked(body.message, path, ownPath) } }
  if (Array.isArray(body.data)) {
    const data = body.data.map((each) =>
      isObject(each) ? replacement.message(each as never) : each
    )
    return { ...answer, body: { ...body, data } }
  }
  const step = (value: object) => replacement.step(value as never)
  return { ...answer, body: isObject(body.data) ? { data: step(body.data) } : step(body) }
}

/** The message of an error that repeats a value of the question, with the value that stands for it. */
function asAsked(message: unknown, path: string, ownPath: string): unknown {
  if (typeof message !== 'string') return message
  const valuesOf = (each: string) => [...new URLSearchParams(each.split('?')[1]).values()]
  const [values, ownValues] = [valuesOf(path), valuesOf(ownPath)]
  return values.reduce(
    (text, value, at) => (value ? text.replaceAll(value, ownValues[at] ?? value) : text),
    message
  )
}
