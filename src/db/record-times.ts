import Database from 'better-sqlite3'
import { shiftTimes, TIMED_KINDS, type TimedKind } from '../domain/record-times.js'

/** Returns a copy of the serialized database with the times of all records shifted. */
export function shiftRecordTimes(database: Buffer, milliseconds: number): Buffer {
  const client = new Database(database)
  shiftAllRecords(client, milliseconds)
  const shifted = client.serialize()
  client.close()
  return shifted
}

function shiftAllRecords(client: Database.Database, milliseconds: number): void {
  const shiftAll = client.transaction(() => {
    for (const kind of TIMED_KINDS) shiftKind(client, kind, milliseconds)
    client.prepare('UPDATE messages SET created_at = created_at + ?').run(milliseconds)
  })
  shiftAll()
}

function shiftKind(client: Database.Database, kind: TimedKind, milliseconds: number): void {
  const rows = client.prepare<[], Row>(`SELECT rowid AS key, document FROM ${kind}`).all()
  const update = client.prepare(`UPDATE ${kind} SET document = ? WHERE rowid = ?`)
  for (const { key, document } of rows) {
    const shifted = shiftTimes(kind, JSON.parse(document), milliseconds)
    update.run(JSON.stringify(shifted), key)
  }
}

interface Row {
  key: number
  document: string
}
