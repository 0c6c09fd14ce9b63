import type { Profile } from '../core/assumptions.js'
import type { ClockSetting } from '../core/clock.js'
import type { Integration } from '../integrations/schemas.js'
import type { MessageResponse, SubscriberResponse } from '../messages/schemas.js'
import type { WorkflowStep } from '../workflow-steps/schemas.js'
import type { SeedGenerate, SeedWorkflow } from './format.js'

/** What the workflow table keeps as a workflow's document: what a seed says of it, steps apart. */
export type WorkflowDocument = Required<Pick<SeedWorkflow, '_id' | 'identifier' | 'name' | 'origin'>> &
  Pick<SeedWorkflow, 'payloadSchema'>

/** An environment with everything in it spelled out: documents of the wire, ready to be stored. */
export interface World {
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
  /** More messages, that are still to be made. */
  generate?: SeedGenerate
  /** Undefined: the seeds do not say. */
  clock?: ClockSetting
  randomSeed?: number
}

/** A document that certainly has its id. */
export type Stored<Document extends { _id?: string }> = Document & { _id: string }
