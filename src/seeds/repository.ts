import type { Statement } from 'better-sqlite3'
import { getTableName } from 'drizzle-orm'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import { type Db, insertInto } from '../db/open.js'
import { integrations, messages, subscribers, workflowSteps, workflows } from '../db/schema.js'
import type { DatasetKind } from '../domain/enums.js'
import { MAX_CANDIDATES } from '../domain/suggestions.js'
import { withEnvironmentIds } from '../environments/datasets.js'
import type { Environment } from '../environments/environment.js'
import type { WorkflowStep } from '../workflow-steps/schemas.js'
import type { EnvironmentData } from './format.js'

/** The kinds of records of an environment. Spelled out, as it is in the library's types, which name no package's. */
export type RecordKind = 'messages' | 'integrations' | 'subscribers' | 'workflows' | 'steps'

const TABLES: Record<RecordKind, SQLiteTable> = {
  messages,
  integrations,
  subscribers,
  workflows,
  steps: workflowSteps
}

export const RECORD_KINDS = Object.keys(TABLES) as RecordKind[]

/** The columns of names. */
const NAMES = { integrations: 'identifier', subscribers: 'subscriber_id', workflows: 'identifier' }

/** How one record is found. What messages of a channel go through is the primary integration, else the first active one. */
const FOUND_BY: Record<string, string> = {
  _id: 'id = ?',
  identifier: 'identifier = ?',
  subscriberId: 'subscriber_id = ?',
  createdAt: 'created_at = ? ORDER BY id DESC',
  primary: 'is_primary = 1 AND deleted = 0 AND channel = ?',
  active: 'active = 1 AND deleted = 0 AND channel = ? ORDER BY is_primary DESC, rowid'
}

const DELETE_STEPS = `DELETE FROM workflow_steps WHERE dataset = ? AND workflow_id IN
  (SELECT id FROM workflows WHERE dataset = ? AND (id = ? OR identifier = ?))`

export type SeedRepository = ReturnType<typeof seedRepository>

export type ExistingRecords = ReturnType<SeedRepository['lookUp']>

export function seedRepository(db: Db) {
  const { client } = db
  const insert = perKind((kind) => insertInto(db, TABLES[kind]))
  // Another statement, as SQLite keeps a journal of each that may replace, which takes as long as to insert.
  const replace = perKind((kind) => insertInto(db, TABLES[kind], 'INSERT OR REPLACE'))
  const statements = new Map<string, Statement<unknown[], unknown>>()

  return {
    /**
     * Stores a record: in place of one with its id, at whose place it then is, and of any that has its name; a workflow in
     * place of their steps too. What else it contradicts, such as another primary, must have been refused before.
     */
    put(
      kind: RecordKind,
      dataset: number,
      row: { id: string; identifier?: string; position?: number }
    ): void {
      if (kind === 'workflows') prepare(DELETE_STEPS).run(dataset, dataset, row.id, row.identifier)
      try {
        insert[kind]({ ...row, dataset })
      } catch (error) {
        if (!/_(UNIQUE|PRIMARYKEY)$/.test((error as { code?: string }).code ?? '')) throw error
        const [place] = values<number>('rowid', kind, dataset, 'id = ?', row.id)
        const last = replace[kind]({ ...row, dataset })
        if (place !== undefined)
          prepare(`UPDATE ${nameOf(kind)} SET rowid = ? WHERE rowid = ?`).run(place, last)
      }
    },

    delete: (kind: RecordKind, dataset: number, id: string): void =>
      void prepare(`DELETE FROM ${nameOf(kind)} WHERE dataset = ? AND id = ?`).run(dataset, id),

    countRecords: ({ datasets }: Environment): Record<RecordKind, number> =>
      perKind((kind) => values<number>('count(*)', kind, datasets[datasetOf(kind)])[0] ?? 0),

    /**
     * Yields the documents of an environment as it is now, all or the first ones, in the order of storing. What it reads
     * must stay as it is meanwhile.
     */
    *documents<Kind extends RecordKind>(kind: Kind, environment: Environment, limit = -1) {
      const dataset = environment.datasets[datasetOf(kind)]
      for (const place of values<number>(
        'rowid',
        kind,
        dataset,
        'true ORDER BY rowid LIMIT ?',
        limit
      )) {
        yield* parsed<EnvironmentData[Kind][number]>(kind, environment, 'rowid = ?', place)
      }
    },

    /**
     * Looks up what an environment has, which a seed is merged into: the seed's records replace those of the same name, and
     * refer to all others. Documents are as the environment shows them.
     */
    lookUp: (environment: Environment) => ({
      /** Returns the first record by `_id`, by its name, or by what else `FOUND_BY` has. */
      find<Kind extends RecordKind>(
        kind: Kind,
        by: string,
        value: unknown
      ): EnvironmentData[Kind][number] | undefined {
        return parsed<EnvironmentData[Kind][number]>(
          kind,
          environment,
          `${FOUND_BY[by]} LIMIT 1`,
          value
        )[0]
      },
      /** Returns the steps of a workflow, or all. */
      stepsOf(workflowId?: string): WorkflowStep[] {
        const where = workflowId === undefined ? '? IS NULL' : 'workflow_id = ?'
        return parsed('steps', environment, `${where} ORDER BY position`, workflowId ?? null)
      },
      messageCount: () =>
        values<number>('count(*)', 'messages', environment.datasets.messages)[0] ?? 0,
      /** Returns the first some hundred names, to suggest one of. */
      names: (kind: keyof typeof NAMES): string[] =>
        values(NAMES[kind], kind, environment.datasets[kind], `true LIMIT ${MAX_CANDIDATES}`)
    })
  }

  function parsed<Document>(
    kind: RecordKind,
    environment: Environment,
    where: string,
    value: unknown
  ): Document[] {
    const of = datasetOf(kind)
    const stored = values<string>('document', kind, environment.datasets[of], where, value)
    return stored.map((json) => JSON.parse(withEnvironmentIds(environment, of, json)))
  }

  function values<Value>(
    column: string,
    kind: RecordKind,
    dataset: number,
    where = 'true',
    ...of: unknown[]
  ): Value[] {
    const statement = prepare(
      `SELECT ${column} FROM ${nameOf(kind)} WHERE dataset = ? AND ${where}`
    )
    return statement.pluck().all(dataset, ...of) as Value[]
  }

  function prepare(text: string): Statement<unknown[], unknown> {
    const statement = statements.get(text) ?? client.prepare(text)
    statements.set(text, statement)
    return statement
  }
}

/** The kind of the dataset in which records of this kind are. */
export function datasetOf(kind: RecordKind): Exclude<DatasetKind, 'idempotency'> {
  return kind === 'steps' ? 'workflows' : kind
}

export function perKind<Value>(create: (kind: RecordKind) => Value): Record<RecordKind, Value> {
  return Object.fromEntries(RECORD_KINDS.map((kind) => [kind, create(kind)])) as Record<
    RecordKind,
    Value
  >
}

const nameOf = (kind: RecordKind): string => getTableName(TABLES[kind])
