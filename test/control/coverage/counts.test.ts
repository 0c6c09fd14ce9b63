import { expect, test } from 'vitest'
import { coverageService } from '../../../src/control/coverage/service.js'
import { JournalEntry } from '../../../src/control/requests/entry.js'

test('looks for secrets only in paths that are new, and in none once all names are taken', () => {
  const looked: string[] = []
  const redaction = () => (text: string) => {
    looked.push(text)
    return text
  }
  const coverage = coverageService({ profile: 'document', assumptions: {} }, redaction)
  const count = coverage.counterOf(undefined)
  const entry = new JournalEntry(count, () => {
    throw new Error('a request that is only counted is not described')
  })
  const send = (path: string) => {
    entry.start(1, 0, `GET\n${path}?a=1\nAuthorization\nApiKey x`, undefined)
    entry.end(404)
  }

  for (let time = 0; time < 5; time++) send('/v1/topics')
  expect(looked).toEqual(['/v1/topics'])
  for (let index = 0; index < 50; index++) send(`/v1/none-${index}`)
  send('/v1/topics')
  expect(looked).toHaveLength(20)
  const { requests, targets } = coverage.ofServer().unserved
  expect([requests, targets.length, targets[0]]).toEqual([56, 20, { method: 'GET', path: '/v1/topics', requests: 6 }])
})
