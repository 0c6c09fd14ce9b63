import { createHash } from 'node:crypto'
import { copyFileSync, rmSync, writeSync } from 'node:fs'
import type { Db } from '../../../src/db/open.js'
import type { Seed } from '../../../src/seeds/format.js'
import { startServer } from '../../../src/server.js'

/**
 * Run as a program: does something to the environment of a data file, and kills itself in the middle of it, at the given
 * share of the changes of rows that it takes. What is before and what will be after, by a copy of the file, is told first.
 */
const [file = '', work = '', share = '0'] = process.argv.slice(2)
let killAfter = Number.POSITIVE_INFINITY
if (work !== 'prepare') {
  const copy = `${file}.copy`
  copyFileSync(file, copy)
  const told = await doWork(copy)
  rmSync(copy)
  writeSync(1, `${JSON.stringify(told)}\n`)
  killAfter = Math.max(1, Math.ceil(Number(share) * told.changes))
}
await doWork(file, killAfter)

async function doWork(data: string, last = Number.POSITIVE_INFINITY) {
  const { app, db, services, loadSeeds } = await startServer({
    port: 0,
    logLevel: 'silent',
    data,
    seed: { environments: [] }
  })
  const { environments } = services
  const seeds = await loadSeeds()
  const main =
    environments.list().find(({ name }) => name === 'Main') ??
    (await seeds.createEnvironment({ name: 'Main' })).environment
  const isB = environments.settings(main).profile === 'live'
  const WORK: Record<string, () => unknown> = {
    async prepare() {
      await seeds.load(main, { seed: many('a') }, 'replace')
      await seeds.load(main, { seed: many('b') }, 'merge')
      environments.snapshot(main, 'b')
      environments.reset(main)
      environments.snapshot(main, 'a')
    },
    restore: () => environments.restore(main, isB ? 'a' : 'b', ['data', 'clock', 'idempotency']),
    reset: () => environments.reset(main),
    fork: () => seeds.createEnvironment({ from: main.id }),
    merge: () => seeds.load(main, { seed: many('b') }, 'merge'),
    replace: () => seeds.load(main, { seed: many('b') }, 'replace'),
    snapshot: () => void environments.snapshot(main, 'c'),
    remove: () => environments.remove(environments.list().at(-1) ?? main)
  }
  const run = WORK[work]
  if (!run) throw new Error(`there is no work ${work}`)
  const before = lookAll(db)
  const counter = countChanges(db, last)
  await run()
  const { changes } = counter
  const after = lookAll(db)
  await app.close()
  return { before, after, changes }
}

/** Calls back at every change of a row, from inside the transaction. */
function countChanges({ client }: Db, last: number) {
  const counter = { changes: 0 }
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
function lookAll(db: Db): string {
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
