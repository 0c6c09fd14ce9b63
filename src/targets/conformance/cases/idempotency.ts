import { checkJsonType, checkStatus, jsonIn, recordIn, setPrimaryPath } from '../../answers.js'
import { check, checkSame } from '../../outcome.js'
import type { Answer, Ask } from '../../target.js'
import { type ConformanceCase, contract, settled } from '../case.js'
import { UNKNOWN_KEY } from '../refusals.js'
import type { Subject } from '../subject.js'

const HEADER = contract('All accept the optional header `idempotency-key` (string; for idempotency purposes)')
const REPEATED = settled('Behavior of a repeated request carrying the same `idempotency-key`')
/** Most requests with a key are for an integration that does not exist: their answers are kept too, and change nothing. */
export const IDEMPOTENCY: ConformanceCase[] = [
  {
    id: 'idempotency.header',
    tier: 'effects',
    rule: 'The first answer to a key has the header `Idempotency-Key`, and no `Idempotency-Replay`.',
    basis: HEADER,
    needs: ['changes'],
    async run(subject) {
      const key = subject.random.uuid()
      const { headers, request } = await post(subject, subject.unknownId(), key)
      check(headers.get('idempotency-key') === key, `${request}: Idempotency-Key is ${headers.get('idempotency-key')}`)
      check(!headers.has('idempotency-replay'), `${request}: a first answer has Idempotency-Replay`)
    }
  },
  {
    id: 'idempotency.replay',
    tier: 'effects',
    rule: 'A repeated key gets the stored answer: the same status and body, byte for byte.',
    basis: REPEATED,
    needs: ['integration'],
    async run(subject) {
      const { _id } = await subject.integrations.one()
      const key = subject.random.uuid()
      const first = await post(subject, _id, key)
      checkStatus(first, 200)
      checkReplay(await post(subject, _id, key), first)
    }
  },
  {
    id: 'idempotency.replay-header',
    tier: 'effects',
    rule: 'A replay has the headers `Idempotency-Key` and `Idempotency-Replay: true`.',
    basis: REPEATED,
    needs: ['changes'],
    async run(subject) {
      const id = subject.unknownId()
      const key = subject.random.uuid()
      await post(subject, id, key)
      const { headers, request } = await post(subject, id, key)
      check(headers.get('idempotency-replay') === 'true', `${request}: a replay has no Idempotency-Replay: true`)
      check(headers.get('idempotency-key') === key, `${request}: a replay has no Idempotency-Key`)
    }
  },
  {
    id: 'idempotency.replay-type',
    tier: 'effects',
    rule: 'A replay is sent as `application/json; charset=utf-8`, as the first answer.',
    basis: REPEATED,
    needs: ['changes'],
    async run(subject) {
      const id = subject.unknownId()
      const key = subject.random.uuid()
      const [first, second] = [await post(subject, id, key), await post(subject, id, key)]
      for (const { headers, request } of [first, second]) checkJsonType(headers, request)
      const [one, two] = [first, second].map(({ headers }) => headers.get('content-type'))
      check(one === two, `${second.request}: the content-type of a replay is ${two}, and was ${one}`)
    }
  },
  {
    id: 'idempotency.refusal',
    tier: 'effects',
    rule: 'A refusal of the operation is kept too: its replay is the same, byte for byte.',
    basis: settled('Idempotency: which answers are kept'),
    needs: ['changes'],
    async run(subject) {
      const id = subject.unknownId()
      const key = subject.random.uuid()
      const first = await post(subject, id, key)
      checkStatus(first, 404)
      // Else the two could be alike by being of one millisecond.
      await subject.list([['limit', 1]])
      checkReplay(await post(subject, id, key), first)
    }
  },
  {
    id: 'idempotency.not-run',
    tier: 'effects',
    rule: 'A replay does not run the operation: what has been changed since stays.',
    basis: REPEATED,
    needs: ['pair', 'listing'],
    async run(subject) {
      const [one, two] = await subject.integrations.pair()
      const key = subject.random.uuid()
      checkStatus(await post(subject, one._id, key), 200)
      recordIn(await subject.integrations.set(two._id))
      await post(subject, one._id, key)
      const all = (await subject.integrations.list()) ?? []
      const { primary } = all.find(({ _id }) => _id === two._id) ?? {}
      check(primary === true, `a replay of set-primary of ${one._id} has made it primary again`)
    }
  },
  {
    id: 'idempotency.other-body',
    tier: 'effects',
    rule: 'A key with another body is refused with 422 `Request with key "<key>" is being reused for a different body`.',
    basis: REPEATED,
    needs: ['changes'],
    async run(subject) {
      const id = subject.unknownId()
      const key = subject.random.uuid()
      await post(subject, id, key, { headers: { 'content-type': 'application/json' }, body: '{"a":1}' })
      const answer = await post(subject, id, key, { headers: { 'content-type': 'application/json' }, body: '{"a":2}' })
      checkStatus(answer, 422)
      const { message } = jsonIn(answer) as { message?: unknown }
      const isWorded = message === `Request with key "${key}" is being reused for a different body`
      check(isWorded, `${answer.request}: the message of the 422 is another`)
    }
  },
  {
    id: 'idempotency.after-conflict',
    tier: 'effects',
    rule: 'A refused reuse of a key leaves its answer as it was.',
    basis: REPEATED,
    needs: ['changes'],
    async run(subject) {
      const id = subject.unknownId()
      const key = subject.random.uuid()
      const first = await post(subject, id, key)
      await post(subject, id, key, { headers: { 'content-type': 'text/plain' }, body: 'another' })
      checkReplay(await post(subject, id, key), first)
    }
  },
  {
    id: 'idempotency.other-key',
    tier: 'effects',
    rule: 'Another key, and a request without one, is answered afresh.',
    basis: REPEATED,
    needs: ['changes'],
    async run(subject) {
      const id = subject.unknownId()
      await post(subject, id, subject.random.uuid())
      const others = [await post(subject, id, subject.random.uuid()), await post(subject, id, undefined)]
      for (const { headers, request } of others) {
        check(!headers.has('idempotency-replay'), `${request}: a fresh answer has Idempotency-Replay`)
      }
    }
  },
  {
    id: 'idempotency.none',
    tier: 'effects',
    rule: 'A request without a key, or with an empty one, is answered without `Idempotency-Key`.',
    basis: settled('Idempotency: an empty key counts as absent'),
    needs: ['changes'],
    async run(subject) {
      for (const key of [undefined, '']) {
        const { headers, request } = await post(subject, subject.unknownId(), key)
        check(!headers.has('idempotency-key'), `${request}: the answer to a request without a key has Idempotency-Key`)
      }
    }
  },
  {
    id: 'idempotency.case',
    tier: 'effects',
    rule: 'Keys that differ in case are different keys.',
    basis: HEADER,
    needs: ['changes'],
    async run(subject) {
      const id = subject.unknownId()
      const key = `k-${subject.random.uuid()}`
      await post(subject, id, key)
      const { headers, request } = await post(subject, id, key.toUpperCase())
      check(!headers.has('idempotency-replay'), `${request}: a key in capitals replays the answer of another`)
    }
  },
  {
    id: 'idempotency.quotes',
    tier: 'effects',
    rule: 'A key in double quotes is the same key as without them.',
    basis: settled('Idempotency: how a key is written'),
    needs: ['changes'],
    async run(subject) {
      const id = subject.unknownId()
      const key = subject.random.uuid()
      const first = await post(subject, id, key)
      checkReplay(await post(subject, id, `"${key}"`), first)
    }
  },
  {
    id: 'idempotency.longest',
    tier: 'effects',
    rule: 'A key of 255 characters is accepted, and one of 256 refused with 400.',
    basis: settled('Idempotency: the length of a key'),
    needs: ['changes'],
    async run(subject) {
      const key = subject.random.uuid().repeat(8)
      checkStatus(await post(subject, subject.unknownId(), key.slice(0, 255)), 404)
      checkStatus(await post(subject, subject.unknownId(), key.slice(0, 256)), 400)
    }
  },
  {
    id: 'idempotency.unauthenticated',
    tier: 'effects',
    rule: 'A 401 is not kept under its key.',
    basis: settled('Idempotency: which answers are kept'),
    needs: ['changes'],
    async run(subject) {
      const id = subject.unknownId()
      const key = subject.random.uuid()
      checkStatus(await post(subject, id, key, { authorization: `ApiKey ${UNKNOWN_KEY}` }), 401)
      checkStatus(await post(subject, id, key), 404)
    }
  },
  {
    id: 'idempotency.in-use',
    tier: 'effects',
    rule: 'Of requests with one key at the same time one is answered afresh; the others are replays, or 409 with `Retry-After`.',
    basis: REPEATED,
    needs: ['changes'],
    async run(subject) {
      const id = subject.unknownId()
      const key = subject.random.uuid()
      const answers = await Promise.all(Array.from({ length: 6 }, () => post(subject, id, key)))
      const fresh = answers.filter(({ status, headers }) => status !== 409 && !headers.has('idempotency-replay'))
      check(fresh.length === 1, `of 6 requests with one key, ${fresh.length} were answered afresh`)
      for (const { status, headers, text, request } of answers) {
        if (status === 409)
          check(/^\d+$/.test(headers.get('retry-after') ?? ''), `${request}: a 409 has no Retry-After`)
        else check(text === fresh[0]?.text, `${request}: two answers to one key are not the same`)
      }
    }
  },
  {
    id: 'idempotency.same-document',
    tier: 'effects',
    rule: 'With a key, set-primary answers as without.',
    basis: HEADER,
    needs: ['integration'],
    async run(subject) {
      const { _id } = await subject.integrations.one()
      const [one, two] = [await subject.integrations.set(_id), await post(subject, _id, subject.random.uuid())]
      checkSame(recordIn(two), recordIn(one), `${two.request}: the answer with a key and that without`)
    }
  }
]

/** Sends set-primary with a key. */
function post({ ask }: Subject, id: string, key: string | undefined, more: Ask = {}): Promise<Answer> {
  const headers = { ...more.headers, ...(key !== undefined && { 'idempotency-key': key }) }
  return ask(setPrimaryPath(id), { ...more, method: 'POST', headers })
}

function checkReplay(answer: Answer, first: Answer): void {
  const { request, status, text } = answer
  check(status === first.status, `${request}: status ${status} when the key is repeated, and ${first.status} before`)
  check(text === first.text, `${request}: the body is another when the key is repeated`)
}
