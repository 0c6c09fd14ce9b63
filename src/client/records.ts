import { type Connection, path } from './connection.js'
import type {
  Integration,
  IntegrationPatch,
  ListedWorkflow,
  MessagePatch,
  MessageResponse,
  NewIntegration,
  NewMessage
} from './control-api.js'

/** What the server shows always has one. */
interface WithId {
  _id: string
}

/** Single messages of an environment. */
export interface Messages {
  /** Adds a message as in a seed; without `createdAt` it is of now, by the environment's clock. */
  add(message: NewMessage): Promise<MessageResponse & WithId>
  /** Changes fields of a message; null removes one. */
  change(id: string, changes: MessagePatch): Promise<MessageResponse & WithId>
  remove(id: string): Promise<void>
}

/** Single integrations of an environment, by their `_id` or identifier. */
export interface Integrations {
  /** Returns all integrations in the order in which they were added. */
  list(): Promise<(Integration & WithId)[]>
  /** Adds an integration as in a seed. */
  add(integration: NewIntegration): Promise<Integration & WithId>
  /** Changes fields of an integration; null removes one. */
  change(id: string, changes: IntegrationPatch): Promise<Integration & WithId>
  remove(id: string): Promise<void>
}

/** The workflows of an environment. */
export interface Workflows {
  /** Returns all workflows, with the ids of their steps. */
  list(): Promise<ListedWorkflow[]>
}

export function messagesOf(connection: Connection): Messages {
  return {
    add: (message) => connection.json('POST', '/_mock/messages', { body: message }),
    change: (id, changes) => connection.json('PATCH', path`/_mock/messages/${id}`, { body: changes }),
    remove: (id) => connection.done('DELETE', path`/_mock/messages/${id}`)
  }
}

export function integrationsOf(connection: Connection): Integrations {
  return {
    list: async () =>
      (await connection.json<{ integrations: (Integration & WithId)[] }>('GET', '/_mock/integrations')).integrations,
    add: (integration) => connection.json('POST', '/_mock/integrations', { body: integration }),
    change: (id, changes) => connection.json('PATCH', path`/_mock/integrations/${id}`, { body: changes }),
    remove: (id) => connection.done('DELETE', path`/_mock/integrations/${id}`)
  }
}

export function workflowsOf(connection: Connection): Workflows {
  return {
    list: async () => (await connection.json<{ workflows: ListedWorkflow[] }>('GET', '/_mock/workflows')).workflows
  }
}
