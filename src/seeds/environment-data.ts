import type { Profile } from '../core/assumptions.js'
import type { ClockSetting } from '../core/clock.js'
import { CHANNELS } from '../core/enums.js'
import type { Integration } from '../integrations/schemas.js'
import type { MessageResponse, SubscriberResponse } from '../messages/schemas.js'
import type { WorkflowStep } from '../workflow-steps/schemas.js'
import type { SeedGenerate, SeedWorkflow } from './format.js'

/** A stored workflow, without its steps. */
export type WorkflowDocument = Required<Pick<SeedWorkflow, '_id' | 'identifier' | 'name' | 'origin'>> &
  Pick<SeedWorkflow, 'payloadSchema'>

/** An environment with every default filled in: the documents that are stored and served. */
export interface EnvironmentData {
  id: string
  organizationId: string
  name: string
  /** Null: the server's own. */
  profile: Profile | null
  assumptions: Record<string, string>
  apiKeys: string[]
  integrations: Stored<Integration>[]
  subscribers: Stored<SubscriberResponse>[]
  workflows: WorkflowDocument[]
  steps: WorkflowStep[]
  messages: Stored<MessageResponse>[]
  /** Messages to generate besides. */
  generate?: SeedGenerate
  /** Takes the characters of each generated message. Throws SeedError when they are too many for a request. */
  countGenerated?: (characters: number) => void
  /** Undefined where the seeds leave it out. */
  clock?: ClockSetting
  randomSeed?: number
}

/** A document that has its id. */
export type Stored<Document extends { _id?: string }> = Document & { _id: string }

/** What messages are generated from. */
export type EnvironmentInput = Pick<
  EnvironmentData,
  'id' | 'organizationId' | 'name' | 'integrations' | 'subscribers' | 'workflows' | 'steps' | 'messages'
>

/** Whether there is a step that sends messages. */
export function canGenerate({ steps }: Pick<EnvironmentData, 'steps'>): boolean {
  return steps.some(({ type }) => (CHANNELS as readonly string[]).includes(type))
}
