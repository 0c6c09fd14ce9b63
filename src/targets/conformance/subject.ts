import type { MessageResponse } from '../../messages/schemas.js'
import {
  type Answer,
  Failure,
  listPath,
  NoAnswer,
  needed,
  type Page,
  type Parameters,
  pageOf,
  type Sample,
  type Sent,
  Skipped
} from '../answers.js'
import type { Ask, Target } from '../target.js'
import { type Integrations, integrationsOf, type SubjectOptions } from './integrations.js'
import { type StepName, stepsOf } from './steps.js'

/** What is asked: a target, and what was found of its data, which is read once. */
export interface Subject {
  options: SubjectOptions
  /** Throws `TargetGone` when the target answers nothing any more. */
  ask(path: string, ask?: Ask): Promise<Answer>
  /** Returns a page of messages. Throws `Failure` when the answer is not 200 with a page. */
  list(parameters?: Parameters, ask?: Ask): Promise<Page>
  /** Throws `Skipped` when there is no message. */
  sample(): Promise<Sample>
  /** Returns up to three steps of each of up to three workflows. Throws `Skipped` when none is found. */
  steps(): Promise<StepName[]>
  integrations: Integrations
  /** Forgets the messages that were read. */
  forget(): void
  /** Returns what was sent since it was last called. */
  takeSent(): Sent[]
}

/** The target has stopped answering, whatever it is asked. */
export class TargetGone extends Failure {}

const SAMPLE_PAGES = 2
const SAMPLE_LIMIT = 100
/** How often a target that has not answered is asked for something harmless, before it counts as gone. */
const LAST_TRIES = 4

export function createSubject(target: Target, options: SubjectOptions): Subject {
  const known = new Map<string, Promise<unknown>>()
  let sent: Sent[] = []
  const subject: Subject = {
    options,
    ask,
    list: async (parameters = {}, request) => pageOf(await ask(listPath(parameters), request)),
    sample: () => once('sample', () => readSample(subject)),
    steps: () => once('steps', () => stepsOf(subject)),
    integrations: integrationsOf(ask, options),
    forget: () => void known.delete('sample'),
    takeSent() {
      const taken = sent
      sent = []
      return taken
    }
  }
  return subject

  async function ask(path: string, request: Ask = {}): Promise<Answer> {
    sent.push({ path, ask: request })
    try {
      return await target.ask(path, request)
    } catch (error) {
      if (!(error instanceof NoAnswer)) throw error
      const { answer } = await target.askAgain('/v1/messages?limit=1', { tries: LAST_TRIES })
      throw answer ? error : new TargetGone(error.message, error.request)
    }
  }

  /** Reads what is not known yet. What could not be read is read again the next time. */
  function once<Value>(name: string, read: () => Promise<Value>): Promise<Value> {
    const value = (known.get(name) as Promise<Value> | undefined) ?? read()
    known.set(name, value)
    value.catch((error) => {
      if (!(error instanceof Skipped) && known.get(name) === value) known.delete(name)
    })
    return value
  }
}

/** Reads the newest messages: two pages, which is enough for most rules, however many there are. */
async function readSample({ list }: Subject): Promise<Sample> {
  const messages: MessageResponse[] = []
  let request: Sent | undefined
  for (let number = 0; ; number++) {
    const page = await list({ limit: SAMPLE_LIMIT, page: number })
    messages.push(...page.data)
    request ??= page.answer
    const isComplete = page.data.length < SAMPLE_LIMIT
    if (!isComplete && number + 1 < SAMPLE_PAGES) continue
    needed(messages.length > 0, 'the environment has no messages: send some, or give the key of another one')
    return { messages, isComplete, request }
  }
}
