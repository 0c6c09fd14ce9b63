import { createHash } from 'node:crypto'
import { closeSync, openSync, rmSync } from 'node:fs'
import Database from 'better-sqlite3'
import { attempt, StartError } from '../../core/errors.js'
import type { SeedMessage, SeedStep, SeedSubscriber, SeedWorkflow } from '../../seeds/format.js'
import { type Notes, note } from './contract.js'
import type { Positions } from './positions.js'

/** What a recording has to say again to go on. */
export interface Identity {
  url: string
  apiKey: string
  pageSize: number
  maximum: number
  keepPersonalData: boolean
  keepWorkflowTexts: boolean
}

/** What is known of a recording beside its records. */
export interface ProgressState {
  /** How many messages of the list were read, those that came in meanwhile too. */
  read: number
  /** How often messages that were removed meanwhile had left a gap. */
  gaps: number
  isComplete: boolean
  /** How often messages that came in meanwhile were looked for, and whether such a look is not whole yet. */
  look: number
  isLooking: boolean
  owner?: { _environmentId?: string; _organizationId?: string }
  positions?: Positions
  notes: [string, number][]
  /** The creation and id of the message that was read last, to notice another order. */
  last?: [string, string]
}

/** A message as it will be in the seed, by its id or, without one, what it says; none if the seed can't have it. */
export interface ReadMessage {
  key: string
  document: SeedMessage | undefined
}

/** A step of a workflow that may exist: a message names it. */
export interface Candidate {
  workflow: string
  workflowId: string
  name: string
  step: string
}

export type Progress = ReturnType<typeof openProgress>

const TABLES = `
  CREATE TABLE IF NOT EXISTS state (value TEXT NOT NULL);
  CREATE TABLE IF NOT EXISTS messages (key TEXT PRIMARY KEY, created TEXT NOT NULL, document TEXT, look INTEGER);
  CREATE INDEX IF NOT EXISTS messages_in_order ON messages (created, key);
  CREATE TABLE IF NOT EXISTS subscribers (name TEXT PRIMARY KEY, id TEXT UNIQUE, document TEXT NOT NULL);
  CREATE TABLE IF NOT EXISTS candidates (workflow TEXT, id TEXT, name TEXT, step TEXT, PRIMARY KEY (workflow, step));
  CREATE TABLE IF NOT EXISTS workflows (id TEXT PRIMARY KEY, identifier TEXT UNIQUE, document TEXT NOT NULL);
  CREATE TABLE IF NOT EXISTS steps (workflow TEXT, id TEXT, document TEXT NOT NULL, PRIMARY KEY (workflow, id));
  CREATE TABLE IF NOT EXISTS asked (workflow TEXT, step TEXT, PRIMARY KEY (workflow, step));
`

/**
 * Opens the file in which a recording keeps what it has read, beside the seed that it will write. Only what may be in
 * the seed is in it. Throws `StartError` when the file is of a recording with other options.
 */
export function openProgress(file: string, identity: Identity) {
  // Only its owner can read it.
  attempt(() => closeSync(openSync(file, 'wx', 0o600)))
  const client = open(file)
  const { apiKey, ...options } = identity
  const fingerprint = JSON.stringify({ ...options, key: createHash('sha256').update(`record ${apiKey}`).digest('hex') })
  const [of, stored] = client.prepare<[], string>('SELECT value FROM state ORDER BY rowid').pluck().all()
  if (of !== undefined && of !== fingerprint) {
    client.close()
    const remedy = `give the same --from, --api-key and options to go on, or delete the file to begin anew`
    throw new StartError(`${file} is what an interrupted recording with other options has read: ${remedy}`)
  }
  const state: ProgressState = stored
    ? JSON.parse(stored)
    : { read: 0, gaps: 0, isComplete: false, look: 0, isLooking: false, notes: [] }
  const notes: Notes = new Map(state.notes)
  if (of === undefined) {
    client.prepare('INSERT INTO state VALUES (?), (?)').run(fingerprint, JSON.stringify(state))
  }
  const saveState = client.prepare('UPDATE state SET value = ? WHERE rowid = 2')
  const count = (table: string) => client.prepare<[], number>(`SELECT count(document) FROM ${table}`).pluck().get() ?? 0

  const messages = messageTables(client, state)
  return {
    state,
    notes,
    /** Saves all that `change` does, or nothing of it. */
    save(change: () => void): void {
      client.transaction(() => {
        change()
        saveState.run(JSON.stringify({ ...state, notes: [...notes] }))
      })()
    },
    ...messages,
    ...stepTables(client, notes),
    counts: () => ({
      messages: messages.messageCount(),
      subscribers: count('subscribers'),
      workflows: count('workflows'),
      steps: count('steps')
    }),
    close: () => void client.close(),
    remove(): void {
      client.close()
      rmSync(file, { force: true })
    }
  }
}

function messageTables(client: Database.Database, state: ProgressState) {
  const addMessage = client.prepare('INSERT OR IGNORE INTO messages VALUES (?, ?, ?, ?)')
  const addSubscriber = client.prepare('INSERT OR IGNORE INTO subscribers VALUES (?, ?, ?)')
  const addCandidate = client.prepare('INSERT OR IGNORE INTO candidates VALUES (?, ?, ?, ?)')
  const subscriberOf = client.prepare<[string], string>('SELECT document FROM subscribers WHERE name = ?').pluck()
  let messageCount = client.prepare<[], number>('SELECT count(document) FROM messages').pluck().get() ?? 0
  const knows = client.prepare('SELECT 1 FROM messages WHERE key = ? AND look < ?').pluck()
  return {
    addMessage({ key, document }: ReadMessage): void {
      const { subscriber, createdAt = '' } = document ?? {}
      if (subscriber) addSubscriber.run(subscriber.subscriberId, subscriber._id ?? null, JSON.stringify(subscriber))
      const { changes } = addMessage.run(key, createdAt, document ? JSON.stringify(document) : null, state.look)
      if (document) messageCount += changes
    },
    /** How many messages the seed will have. Not counted each time, which takes as long as reading them all. */
    messageCount: () => messageCount,
    addCandidate({ workflow, workflowId, name, step }: Candidate): void {
      addCandidate.run(workflow, workflowId, name, step)
    },
    /** Whether it was read, or before a look. */
    hasMessage: (key: string, look = Number.MAX_SAFE_INTEGER): boolean => knows.get(key, look) !== undefined,
    /** The newest first. Where a message embeds its subscriber as it is in the list of them, it refers to it instead. */
    *messages(): Generator<SeedMessage, void> {
      const all = client.prepare<[], string | null>('SELECT document FROM messages ORDER BY created DESC, key DESC')
      for (const text of all.pluck().iterate()) {
        if (text === null) continue
        const { subscriber, ...message } = JSON.parse(text) as SeedMessage
        const listed = subscriber && subscriberOf.get(subscriber.subscriberId) === JSON.stringify(subscriber)
        if (listed) yield { subscriberId: subscriber.subscriberId, ...message }
        else yield { ...message, ...(subscriber && { subscriber }) }
      }
    },
    *subscribers(): Generator<SeedSubscriber, void> {
      const all = client.prepare<[], string>('SELECT document FROM subscribers ORDER BY name').pluck()
      for (const text of all.iterate()) yield JSON.parse(text)
    }
  }
}

function stepTables(client: Database.Database, notes: Notes) {
  const addWorkflow = client.prepare('INSERT OR IGNORE INTO workflows VALUES (?, ?, ?)')
  const hasWorkflow = client.prepare('SELECT 1 FROM workflows WHERE id = ?')
  const addStep = client.prepare('INSERT OR REPLACE INTO steps VALUES (?, ?, ?)')
  const addAsked = client.prepare('INSERT OR IGNORE INTO asked VALUES (?, ?)')
  const asked = client.prepare('SELECT 1 FROM asked WHERE workflow = ? AND step = ?')
  const candidates = client.prepare<[string, string], { name: string; step: string }>(
    'SELECT name, step FROM candidates WHERE workflow = ? OR id = ? ORDER BY rowid'
  )
  return {
    /** The workflows that messages name. */
    workflows: () => client.prepare<[], string>('SELECT DISTINCT workflow FROM candidates').pluck().all(),
    /** The steps of a workflow, by identifier or id, that messages name. */
    candidates: (workflow: string) => candidates.all(workflow, workflow),
    wasAsked: (workflow: string, step: string): boolean => asked.get(workflow, step) !== undefined,
    setAsked: (workflow: string, step: string) => void addAsked.run(workflow, step),
    addStep(workflow: Omit<SeedWorkflow, 'steps'>, id: string, step: SeedStep): void {
      const { _id = '', identifier = '' } = workflow
      const added = addWorkflow.run(_id, identifier, JSON.stringify(workflow)).changes > 0
      if (added || hasWorkflow.get(_id)) addStep.run(_id, id, JSON.stringify(step))
      else note(notes, `workflow ${identifier} is there twice, with another id: left out`)
    },
    *seedWorkflows(): Generator<SeedWorkflow, void> {
      const all = client.prepare<[], string>('SELECT document FROM workflows ORDER BY identifier').pluck().all()
      const stepsOf = client.prepare<[string], string>('SELECT document FROM steps WHERE workflow = ? ORDER BY rowid')
      for (const workflow of all.map((text) => JSON.parse(text) as SeedWorkflow)) {
        const documents = stepsOf.pluck().all(workflow._id ?? '')
        const steps = documents.map((text) => JSON.parse(text) as SeedStep)
        yield { ...workflow, steps: steps.sort((one, two) => earlierSteps(one).length - earlierSteps(two).length) }
      }
    }
  }
}

/** The steps that a step's variables name: those before it in its workflow. */
export function earlierSteps({ variables }: SeedStep): string[] {
  const { properties } = (variables ?? {}) as { properties?: { steps?: { properties?: object } } }
  return Object.keys(properties?.steps?.properties ?? {})
}

function open(file: string): Database.Database {
  try {
    const client = new Database(file)
    client.pragma('locking_mode = EXCLUSIVE')
    client.exec(TABLES)
    return client
  } catch (error) {
    const { code = '', message } = error as Error & { code?: string }
    const reason = code.startsWith('SQLITE_BUSY') ? 'another recording to the same file is running' : message
    throw new StartError(`can't keep what is read in ${file}: ${reason}`)
  }
}
