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

test('a transaction that is rolled back undoes all, once, from the last to the first, also what its savepoints have done', () => {
  const db = givenDatabase()
  const undone: string[] = []
  const failing = () =>
    db.transaction(() => {
      db.onRollback(() => undone.push('outside'))
      db.transaction(() => db.onRollback(() => undone.push('inside')))
      throw new Error('refused')
    })
  expect(failing).toThrow('refused')
  expect(undone).toEqual(['inside', 'outside'])
  db.transaction(() => {})
  expect(undone).toHaveLength(2)
})

test.each([
  ['runs to its end', true],
  ['is ended early', false]
])('what steps write in one transaction is kept if the work %s: %s', (_title, isKept) => {
  const db = givenDatabase()
  const count = () => db.client.prepare('SELECT count(*) FROM datasets').pluck().get()
  const undone: string[] = []
  const work = db.transactionOver(
    (function* () {
      db.client.exec('INSERT INTO datasets DEFAULT VALUES')
      db.transaction(() => db.onRollback(() => undone.push('inside')))
      yield
    })()
  )
  work.next()
  if (isKept) expect(work.next().done).toBe(true)
  else work.return()
  expect([count(), undone]).toEqual(isKept ? [1, []] : [0, ['inside']])
})
