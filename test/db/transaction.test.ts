import { expect, onTestFinished, test } from 'vitest'
import { openDatabase } from '../../src/db/open.js'

function givenDatabase() {
  const { db, close } = openDatabase()
  onTestFinished(close)
  return db
}

test('a savepoint that is rolled back undoes what was done in it, and not what was done before', () => {
  const db = givenDatabase()
  const undone: string[] = []
  db.transaction(() => {
    db.onRollback(() => undone.push('before'))
    const failing = () =>
      db.transaction(() => {
        db.onRollback(() => undone.push('inside'))
        throw new Error('refused')
      })
    expect(failing).toThrow('refused')
    db.onRollback(() => undone.push('after'))
  })
  expect(undone).toEqual(['inside'])
})

test('a transaction that is rolled back undoes all, once, also what its savepoints have done', () => {
  const db = givenDatabase()
  const undone: string[] = []
  const failing = () =>
    db.transaction(() => {
      db.onRollback(() => undone.push('outside'))
      db.transaction(() => db.onRollback(() => undone.push('inside')))
      throw new Error('refused')
    })
  expect(failing).toThrow('refused')
  expect(undone).toEqual(['outside', 'inside'])
  db.transaction(() => {})
  expect(undone).toHaveLength(2)
})
