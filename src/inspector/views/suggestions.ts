import type { AttachedEnvironment } from '../../client/index.js'

/** The number of messages to load for suggestions. Loading all messages would take too long. */
const MAX_MESSAGES = 100

/** Returns the ids of the subscribers of the newest messages. */
export async function recentSubscribers(env: AttachedEnvironment): Promise<string[]> {
  const { messages } = await env.messages.search({ limit: MAX_MESSAGES })
  return [...new Set(messages.flatMap(({ subscriber }) => subscriber?.subscriberId ?? []))]
}

/** Returns the identifiers of the workflows. */
export async function workflowIds(env: AttachedEnvironment): Promise<string[]> {
  return (await env.workflows.list()).map(({ identifier }) => identifier)
}
