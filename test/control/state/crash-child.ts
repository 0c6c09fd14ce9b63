import { createHash } from 'node:crypto'
import { writeSync } from 'node:fs'
import type { Db } from '../../../src/db/open.js'
import type { Seed } from '../../../src/seeds/format.js'
import { startServer } from '../../../src/server.js'

/**
 * Run as a program: does something to the environment of a data file, and kills itself in the middle of it, at the given
 * share of the changes of rows that it takes. What is before and what will be after is told first.
 */
const [file = '', work = '', share = '0'] = process.argv.slice(2)
const { app, db, services } = await startServer({ port: 0, logLevel: 'silent', data: file, seed: { environments: [] } })
const { environments, seeds } = services
const main = environments.list().find(({ name }) => name === 'Main') ?? seeds.make({ name: 'Main' }).environment

const WORK: Record<string, () => void> = {
  prepare() {
    seeds.load(main, many('a'), 'replace')
    seeds.load(main, many('b'), 'merge')
    environments.snapshot(main, 'b')
    environments.reset(main)
    environments.snapshot(main, 'a')
  },
  restore: () => environments.restore(main, nameOfNow() === 'a' ? 'b' : 'a', ['data', 'clock', 'idempotency']),
  reset: () => {
    environments.reset(main)
  },
  fork: () => void seeds.make({ from: main.id }),
  merge: () => seeds.load(main, many('b'), 'merge'),
  replace: () => seeds.load(main, many('b'), 'replace'),
  snapshot: () => void environments.snapshot(main, 'c'),
  remove: () => environments.remove(environments.list().at(-1) ?? main)
}

const run = WORK[work]
if (!run) throw new Error(`there is no work ${work}`)
if (work !== 'prepare') {
  const counter = countChanges(db)
  const before = lookAll()
  let after = ''
  let changes = 0
  try {
    db.transaction(() => {
      run()
      after = lookAll()
      changes = counter.changes
      throw new Error('only a rehearsal')
    })
  } catch (error) {
    if ((error as Error).message !== 'only a rehearsal') throw error
  }
  writeSync(1, `${JSON.stringify({ before, after, changes, untouched: lookAll() === before })}\n`)
  counter.killAfter(Math.max(1, Math.ceil(Number(share) * changes)))
}
run()
await app.close()

/** Calls back at every change of a row, from inside the transaction. */
function countChanges({ client }: Db) {
  let last = Number.POSITIVE_INFINITY
  const counter = {
    changes: 0,
    killAfter(count: number) {
      counter.changes = 0
      last = count
    }
  }
  client.function('row_changed', { directOnly: false }, () => {
    counter.changes += 1
    if (counter.changes === last) process.kill(process.pid, 'SIGKILL')
    return null
  })
  for (const table of ['environments', 'datasets', 'api_keys', 'integrations', 'subscribers', 'messages']) {
    for (const change of ['INSERT', 'UPDATE', 'DELETE']) {
      client.exec(`CREATE TEMP TRIGGER watch_${table}_${change} AFTER ${change} ON main.${table}
        BEGIN SELECT row_changed(); END`)
    }
  }
  return counter
}

/** A sum over what all environments export and keep, snapshots' rows included; owners and new ids apart. */
function lookAll(): string {
  const rows = db.client
    .prepare('SELECT * FROM environments ORDER BY key')
    .all()
    .map((row) => {
      const {
        id,
        organization_id: organization,
        key: _key,
        snapshot_of: _of,
        created_at: _at,
        ...state
      } = row as Record<string, unknown>
      const parts = ['integrations', 'subscribers', 'messages'].map((part) => {
        const documents = db.client
          .prepare(`SELECT document FROM ${part} WHERE dataset = ? ORDER BY rowid`)
          .pluck()
          .all(state[part])
        return documents
          .join('\n')
          .replaceAll(String(id), 'ENVIRONMENT')
          .replaceAll(String(organization), 'ORGANIZATION')
      })
      return [state.name, state.snapshot_name, state.profile, state.assumptions, state.clock, ...parts]
    })
  const keys = db.client.prepare('SELECT count(*) FROM api_keys').pluck().get()
  return createHash('sha256')
    .update(JSON.stringify([rows, keys]))
    .digest('hex')
}

function nameOfNow(): string {
  return environments.settings(main).profile === 'live' ? 'b' : 'a'
}

function many(kind: 'a' | 'b'): Seed {
  const seed: Seed = {
    environments: [
      {
        name: 'Main',
        profile: kind === 'a' ? 'document' : 'live',
        integrations: [{ identifier: kind, providerId: 'ses', channel: kind === 'a' ? 'email' : 'sms', primary: true }],
        messages: Array.from({ length: kind === 'a' ? 5000 : 500 }, (_, index) => ({
          channel: 'email',
          subject: `${kind} ${index}`,
          createdAt: '2026-02-18T10:00:00.000Z'
        }))
      }
    ]
  }
  return seed
}
