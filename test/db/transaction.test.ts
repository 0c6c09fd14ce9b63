import { expect, onTestFinished, test } from 'vitest'
import { openDatabase } from '../../src/db/open.js'

test('rolling back a savepoint undoes only the changes made within it', () => {
  const { db, undone, insert, keys } = openWithUndoLog()
  db.transaction(() => {
    insert(1)
    expect(() =>
      db.transaction(() => {
        insert(2)
        fail()
      })
    ).toThrow('failed')
    insert(3)
  })
  expect(keys()).toEqual([1, 3])
  expect(undone).toEqual([2])
})

test('rolling back a transaction undoes every change once, newest first', () => {
  const { db, undone, insert, keys } = openWithUndoLog()
  const failing = () =>
    db.transaction(() => {
      insert(1)
      db.transaction(() => insert(2))
      fail()
    })
  expect(failing).toThrow('failed')
  db.transaction(() => {})
  expect(keys()).toEqual([])
  expect(undone).toEqual([2, 1])
})

/** Opens a database. `undone` collects the keys of insertions that are rolled back. */
function openWithUndoLog() {
  const { db, close } = openDatabase()
  onTestFinished(close)
  const undone: number[] = []
  return {
    db,
    undone,
    insert(key: number) {
      db.client.prepare('INSERT INTO datasets (key) VALUES (?)').run(key)
      db.onRollback(() => undone.push(key))
    },
    keys: () => db.client.prepare('SELECT key FROM datasets').pluck().all()
  }
}

function fail(): never {
  throw new Error('failed')
}
