import { createRandom, type Random } from '../../core/random.js'
import type { MessageResponse } from '../../messages/schemas.js'
import { listPath, type Page, type Parameters, pageOf, type Sample, unknownId } from '../answers.js'
import { needed, Skipped } from '../outcome.js'
import type { Answer, Ask, Target } from '../target.js'
import { type Integrations, integrationsOf } from './integrations.js'
import type { SubjectOptions } from './options.js'
import { createPrivateValues } from './private.js'
import { refusalsOf } from './refusals.js'
import { type StepName, stepsOf } from './steps.js'

/** What is asked: a target, and what was found of its data, which is read once. */
export interface Subject {
  target: Target
  options: SubjectOptions
  random: Random
  ask(path: string, ask?: Ask): Promise<Answer>
  /** Returns a page of messages. Throws `Failure` when the answer is not 200 with a page. */
  list(parameters?: Parameters, ask?: Ask): Promise<Page>
  /** Throws `Skipped` when there is no message. */
  sample(): Promise<Sample>
  /** Returns up to three steps of each of up to three workflows. Throws `Skipped` when none is found. */
  steps(): Promise<StepName[]>
  /** Returns an answer of each kind of refusal that can be provoked without a change. */
  refusals(): Promise<Answer[]>
  integrations: Integrations
  /** Returns an id that no record has. */
  unknownId(): string
  /** Returns a text without what is private of the messages that were read. */
  hide(text: string): string
  /** Forgets the messages that were read. */
  forget(): void
}

const SAMPLE_PAGES = 2
const SAMPLE_LIMIT = 100

export function createSubject(target: Target, options: SubjectOptions): Subject {
  const random = createRandom(null)
  const privateValues = createPrivateValues()
  const known = new Map<string, Promise<unknown>>()
  const subject: Subject = {
    target,
    options,
    random,
    ask: (path, ask) => target.ask(path, ask),
    async list(parameters = [], ask) {
      return pageOf(await target.ask(listPath(parameters), ask))
    },
    sample: () =>
      once('sample', async () => {
        const sample = await readSample(subject)
        privateValues.learn(sample.messages)
        return sample
      }),
    steps: () => once('steps', () => stepsOf({ ask: target.ask, sample: subject.sample, options })),
    refusals: () => once('refusals', () => refusalsOf(target)),
    integrations: integrationsOf(target, options),
    unknownId,
    hide: privateValues.hide,
    forget: () => void known.delete('sample')
  }
  return subject

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
  for (let number = 0; ; number++) {
    const page = await list([
      ['limit', SAMPLE_LIMIT],
      ['page', number]
    ])
    messages.push(...page.data)
    const isComplete = page.data.length < SAMPLE_LIMIT
    if (!isComplete && number + 1 < SAMPLE_PAGES) continue
    needed(messages.length > 0, 'the environment has no messages')
    return { messages, isComplete, total: typeof page.totalCount === 'number' ? page.totalCount : undefined }
  }
}
