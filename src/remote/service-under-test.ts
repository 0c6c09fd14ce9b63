import { STEP_TYPES } from '../domain/enums.js'
import type { MessageResponse } from '../messages/schemas.js'
import type { WorkflowStep } from '../workflow-steps/schemas.js'
import { integrationsOf, type SubjectOptions } from './integrations.js'
import { listPath, type Parameters, stepPath } from './paths.js'
import type { Answer, Ask, Page, Sample, Sent } from './response-checks.js'
import { Breach, Failure, NoAnswer, needed, pageOf, recordIn, Skipped } from './response-checks.js'
import type { Target } from './target.js'

export interface StepName {
  workflowId: string
  stepId: string
  step: WorkflowStep
  request: Sent
}

export type Subject = ReturnType<typeof createSubject>

/** The target has stopped answering, whatever it is asked. */
export class TargetGone extends Failure {}

const SAMPLE_PAGES = 2
const SAMPLE_LIMIT = 100
const MAX_WORKFLOWS = 3
const MAX_STEPS = 3
/** How many workflows of messages are tried. */
const MAX_TRIED = 5
/** How often a target that has not answered is asked for something harmless, before it counts as gone. */
const LAST_TRIES = 4
/** The service makes them of the names that its editor gives to new steps. */
const USUAL_STEP_IDS = STEP_TYPES.map((type) => `${type.replace('_', '-')}-step`)

/** What is asked: a target, and what was found of its data, which is read once. */
export function createSubject(target: Pick<Target, 'ask' | 'askAgain'>, options: SubjectOptions) {
  const known = new Map<string, Promise<unknown>>()
  const sent: Sent[] = []
  const subject = {
    options,
    ask,
    /** Returns a page of messages. Throws `Failure` when the answer is not 200 with a page. */
    list: async (parameters: Parameters = {}, request?: Ask): Promise<Page> =>
      pageOf(await ask(listPath(parameters), request)),
    /** Throws `Skipped` when there is no message. */
    sample: (): Promise<Sample> => once('sample', () => readSample(subject)),
    /** Returns up to three steps of each of up to three workflows. Throws `Skipped` when none is found. */
    steps: (): Promise<StepName[]> => once('steps', () => readSteps(subject)),
    integrations: integrationsOf(ask, options),
    forget: () => void known.delete('sample'),
    /** Returns what was sent since it was last called. */
    takeSent: () => sent.splice(0)
  }
  return subject

  /** Throws `TargetGone` when the target answers nothing any more. */
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
  let [request, isComplete]: [Sent | undefined, boolean] = [undefined, false]
  for (let number = 0; !isComplete && number < SAMPLE_PAGES; number++) {
    const { data, answer } = await list({ limit: SAMPLE_LIMIT, page: number })
    messages.push(...data)
    request ??= answer
    isComplete = data.length < SAMPLE_LIMIT
  }
  needed(
    messages.length > 0,
    'the environment has no messages: send some, or give the key of another one'
  )
  return { messages, isComplete, request }
}

/**
 * Finds steps: those of the workflows that are named, or else of those that messages name; the steps that are named, or
 * else those that have the names that the service gives them.
 */
async function readSteps(subject: Subject): Promise<StepName[]> {
  const { workflows, steps } = subject.options
  const isNamed = workflows.length > 0
  const found: StepName[] = []
  for (const workflowId of isNamed ? workflows : await workflowsOfMessages(subject)) {
    const own = await stepsOfWorkflow(subject, workflowId)
    if (isNamed && own.length === 0) {
      throw new Breach(`no step of --workflow ${workflowId} was found; name one with --step`)
    }
    if (own.some(({ step }) => found.some((other) => other.step._id === step._id))) continue
    found.push(...own)
    if (new Set(found.map((each) => each.workflowId)).size === MAX_WORKFLOWS) break
  }
  needed(
    found.length > 0,
    'no step was found by asking',
    `--workflow <id>${steps.length > 0 ? '' : ' --step <id>'}`
  )
  return found
}

async function stepsOfWorkflow({ ask, options }: Subject, workflowId: string): Promise<StepName[]> {
  const found: StepName[] = []
  for (const stepId of options.steps.length > 0 ? options.steps : USUAL_STEP_IDS) {
    const answer = await ask(stepPath(workflowId, stepId))
    // A refusal may be any, where the contract is silent; what is neither that nor a step is judged as one.
    const isRefused = answer.status >= 400 && answer.status < 500
    if (!isRefused) found.push({ workflowId, stepId, step: recordIn(answer), request: answer })
    if (found.length === MAX_STEPS) break
  }
  return found
}

async function workflowsOfMessages({ sample }: Subject): Promise<string[]> {
  const { messages } = await sample().catch((error) => {
    if (error instanceof Skipped) return { messages: [] }
    throw error
  })
  const ids = messages.flatMap(({ _templateId, template }) => [template?._id, _templateId])
  return [...new Set(ids.filter((id) => typeof id === 'string' && id !== ''))].slice(
    0,
    MAX_TRIED
  ) as string[]
}
