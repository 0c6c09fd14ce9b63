import { CHANNELS } from '../../core/enums.js'
import type { EnvironmentData } from '../environment-data.js'

/** What messages are generated from. */
export type EnvironmentInput = Pick<
  EnvironmentData,
  'id' | 'organizationId' | 'name' | 'integrations' | 'subscribers' | 'workflows' | 'steps' | 'messages'
>

/** Whether there is a step that sends messages. */
export function canGenerate({ steps }: Pick<EnvironmentData, 'steps'>): boolean {
  return steps.some(({ type }) => (CHANNELS as readonly string[]).includes(type))
}
