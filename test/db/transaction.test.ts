import { expect, onTestFinished, test } from 'vitest'
import { openDatabase } from '../../src/db/open.js'

function given() {
  const { db, close } = openDatabase()
  onTestFinished(close)
  const undone: string[] = []
  return {
    db,
    undone,
    /** Writes a row, and notes it as undone if it is rolled back. */
    write(key: number) {
      db.client.prepare('INSERT INTO datasets (key) VALUES (?)').run(key)
      db.onRollback(() => undone.push(`row ${key}`))
    },
    rows: () => db.client.prepare('SELECT key FROM datasets').pluck().all()
  }
}

function refuse(): never {
  throw new Error('refused')
}

test('a savepoint that is rolled back undoes what was done in it, and not what was done around it', () => {
  const { db, undone, write, rows } = given()
  db.transaction(() => {
    write(1)
    expect(() =>
      db.transaction(() => {
        write(2)
        refuse()
      })
    ).toThrow('refused')
    write(3)
  })
  expect([rows(), undone]).toEqual([[1, 3], ['row 2']])
})

test('a transaction that is rolled back undoes all, once, from the last to the first', () => {
  const { db, undone, write, rows } = given()
  const failing = () =>
    db.transaction(() => {
      write(1)
      db.transaction(() => write(2))
      refuse()
    })
  expect(failing).toThrow('refused')
  db.transaction(() => {})
  expect([rows(), undone]).toEqual([[], ['row 2', 'row 1']])
})
