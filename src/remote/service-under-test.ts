import { STEP_TYPES } from '../domain/enums.js'
import type { MessageResponse } from '../messages/schemas.js'
import type { WorkflowStep } from '../workflow-steps/schemas.js'
import { listPath, type Parameters, stepPath } from './paths.js'
import {
  ContractViolation,
  Failure,
  type MessageSample,
  NoResponse,
  type Page,
  type RequestOptions,
  readPage,
  readRecord,
  type SentRequest,
  Skipped,
  skipUnless,
  type TargetResponse
} from './response-checks.js'
import type { Target } from './target.js'
import { type ServiceOptions, TestedIntegrations } from './tested-integrations.js'

/** A step of the target, with the request that returned it and the two ids in that request. */
export interface KnownStep {
  workflowId: string
  stepId: string
  step: WorkflowStep
  request: SentRequest
}

export type ServiceUnderTest = ReturnType<typeof createServiceUnderTest>

/** Thrown if the target no longer responds to any request. */
export class TargetGone extends Failure {}

const SAMPLE_PAGES = 2
const SAMPLE_LIMIT = 100
const MAX_WORKFLOWS = 3
const MAX_STEPS = 3
/** Without `--workflow`, how many of the workflow ids in messages to try. */
const MAX_CANDIDATES = 5
/** The number of harmless requests to try before an unresponsive target counts as gone. */
const LAST_ATTEMPTS = 4
/** The ids that Novu gives to new steps, such as `email-step`. */
const DEFAULT_STEP_IDS = STEP_TYPES.map((type) => `${type.replace('_', '-')}-step`)

/**
 * Creates the client that the cases and probes use to send requests to a target. Caches the
 * target's messages and steps.
 */
export function createServiceUnderTest(
  target: Pick<Target, 'send' | 'sendWithRetries'>,
  options: ServiceOptions
) {
  const cache = new Map<string, Promise<unknown>>()
  const sentRequests: SentRequest[] = []
  const service = {
    options,
    send,
    /** Returns a page of messages. Throws `Failure` unless the response is a 200 with a page. */
    list: async (parameters: Parameters = {}, request?: RequestOptions): Promise<Page> =>
      readPage(await send(listPath(parameters), request)),
    /** Returns the newest messages. Throws `Skipped` if there are none. */
    sample: (): Promise<MessageSample> => readOnce('sample', () => readSample(service)),
    /** Returns steps of up to three workflows. Throws `Skipped` if no step is found. */
    steps: (): Promise<KnownStep[]> => readOnce('steps', () => readSteps(service)),
    integrations: new TestedIntegrations(send, options),
    forgetSample(): void {
      cache.delete('sample')
    },
    /** Returns the requests that were sent since the last call. */
    takeSentRequests: () => sentRequests.splice(0)
  }
  return service

  /** Sends a request. Throws `TargetGone` if the target no longer responds to any request. */
  async function send(path: string, request: RequestOptions = {}): Promise<TargetResponse> {
    sentRequests.push({ path, options: request })
    try {
      return await target.send(path, request)
    } catch (error) {
      if (!(error instanceof NoResponse)) throw error
      const harmless = '/v1/messages?limit=1'
      const last = await target.sendWithRetries(harmless, { maxAttempts: LAST_ATTEMPTS })
      throw last.response ? error : new TargetGone(error.message, error.request)
    }
  }

  /**
   * Calls `read` once and caches its result, or a `Skipped` error. After any other error, the next
   * call reads again.
   */
  function readOnce<Value>(name: string, read: () => Promise<Value>): Promise<Value> {
    const value = (cache.get(name) as Promise<Value> | undefined) ?? read()
    cache.set(name, value)
    value.catch((error) => {
      if (!(error instanceof Skipped) && cache.get(name) === value) cache.delete(name)
    })
    return value
  }
}

/** Reads up to two pages of the newest messages. Most rules don't need more. */
async function readSample({ list }: ServiceUnderTest): Promise<MessageSample> {
  const messages: MessageResponse[] = []
  let request: SentRequest | undefined
  let isComplete = false
  for (let page = 0; !isComplete && page < SAMPLE_PAGES; page++) {
    const { data, response } = await list({ limit: SAMPLE_LIMIT, page })
    messages.push(...data)
    request ??= response
    isComplete = data.length < SAMPLE_LIMIT
  }
  skipUnless(
    messages.length > 0,
    'the environment has no messages: send some, or use the key of another environment'
  )
  return { messages, isComplete, request }
}

/**
 * Finds steps by requesting them. Without `--workflow`, tries the workflow ids in the messages.
 * Without `--step`, tries Novu's default step ids.
 */
async function readSteps(service: ServiceUnderTest): Promise<KnownStep[]> {
  const { workflows, steps } = service.options
  const areNamed = workflows.length > 0
  const knownSteps: KnownStep[] = []
  for (const workflowId of areNamed ? workflows : await workflowsOfMessages(service)) {
    const workflowSteps = await stepsOfWorkflow(service, workflowId)
    if (areNamed && workflowSteps.length === 0) {
      const problem = `no step of --workflow ${workflowId} was found; name one with --step`
      throw new ContractViolation(problem)
    }
    const ids = knownSteps.map(({ step }) => step._id)
    if (workflowSteps.some(({ step }) => ids.includes(step._id))) continue
    knownSteps.push(...workflowSteps)
    if (new Set(knownSteps.map((known) => known.workflowId)).size === MAX_WORKFLOWS) break
  }
  const flags = steps.length > 0 ? '--workflow <id>' : '--workflow <id> --step <id>'
  skipUnless(knownSteps.length > 0, 'no step was found', flags)
  return knownSteps
}

async function stepsOfWorkflow(
  { send, options }: ServiceUnderTest,
  workflowId: string
): Promise<KnownStep[]> {
  const knownSteps: KnownStep[] = []
  for (const stepId of options.steps.length > 0 ? options.steps : DEFAULT_STEP_IDS) {
    const response = await send(stepPath(workflowId, stepId))
    // The API reference doesn't define how an unknown step is rejected, so any 4xx counts.
    const isRejected = response.status >= 400 && response.status < 500
    if (isRejected) continue
    knownSteps.push({ workflowId, stepId, step: readRecord(response), request: response })
    if (knownSteps.length === MAX_STEPS) break
  }
  return knownSteps
}

async function workflowsOfMessages({ sample }: ServiceUnderTest): Promise<string[]> {
  const { messages } = await sample().catch((error) => {
    if (error instanceof Skipped) return { messages: [] }
    throw error
  })
  const ids = messages.flatMap(({ _templateId, template }) => [template?._id, _templateId])
  const workflowIds = ids.filter((id) => typeof id === 'string' && id !== '') as string[]
  return [...new Set(workflowIds)].slice(0, MAX_CANDIDATES)
}
