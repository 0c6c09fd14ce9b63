import { randomUUID } from 'node:crypto'
import { Integration } from '../../../integrations/schemas.js'
import { checkDone } from '../../integrations.js'
import { setPrimaryPath, unknownId } from '../../paths.js'
import type { Answer, Ask } from '../../response-checks.js'
import {
  Breach,
  check,
  checkJsonType,
  checkSame,
  checkStatus,
  messageIn,
  recordIn
} from '../../response-checks.js'
import type { Subject } from '../../service-under-test.js'
import { type ConformanceCase, contract, settled } from '../case.js'
import { UNKNOWN_KEY } from './lookup.js'

export const PRIMARY: readonly ConformanceCase[] = [
  {
    id: 'primary.result',
    rule: 'Set-primary answers 200 with the integration that was named, which is primary and not deleted: with each, also an inactive one. A GET of its path is refused.',
    basis: contract(
      'set-primary: Response: an Integration object, with `primary` reflecting the result.'
    ),
    async run({ integrations, ask }) {
      for (const { id } of await integrations.all()) {
        const read = await ask(setPrimaryPath(id))
        check(read.status >= 400, `status ${read.status} of a GET, must be a refusal`, read)
        const answer = await integrations.set(id)
        checkDone(answer)
        if (answer.status !== 200) continue
        const { _id, identifier, primary, deleted, deletedAt, deletedBy } =
          recordIn<Integration>(answer)
        check(_id === id || identifier === id, 'the answer is another integration', answer)
        check(primary === true, `primary is ${primary}`, answer)
        const isThere = deleted === false && deletedAt === undefined && deletedBy === undefined
        check(isThere, 'deleted is not false, or there is deletedAt or deletedBy', answer)
      }
    }
  },
  {
    id: 'primary.activates',
    rule: 'An integration that becomes primary is active, and has no conditions.',
    basis: settled('Set primary: what it changes'),
    async run(subject) {
      const all = await subject.integrations.usable()
      for (const { _id, channel } of all) {
        const other = all.find((each) => each.channel === channel && each._id !== _id)
        // One that is primary already is answered as it is.
        if (!other) continue
        await set(subject, other._id)
        const { active, conditions = [] } = await set(subject, _id)
        check(
          active === true && conditions.length === 0,
          `active is ${active}, with ${conditions.length} conditions`
        )
      }
    }
  },
  {
    id: 'primary.again',
    rule: 'A second set-primary changes nothing; nor does one after that of another, but `primary`.',
    basis: contract(
      'Effect: sets the integration as primary for its channel in the current environment.'
    ),
    async run(subject) {
      const [one, two] = await subject.integrations.pair()
      const before = await set(subject, one._id)
      checkSame(await set(subject, one._id), before, 'the answers to two')
      const other = await set(subject, two._id)
      checkSame(await set(subject, one._id), before, 'the answers before and after that of another')
      checkSame(await set(subject, two._id), other, 'the answers before and after that of another')
    }
  },
  {
    id: 'primary.one',
    rule: 'A channel has one primary: every other integration of it steps down, and else none changes, of no channel.',
    basis: contract(
      'One integration per channel can be primary. It becomes the primary integration for its channel'
    ),
    async run(subject) {
      for (const { _id, channel } of await subject.integrations.usable()) {
        const before = await listed(subject)
        await set(subject, _id)
        for (const after of await listed(subject)) {
          const former = before.find((each) => each._id === after._id)
          // Not as it was just before, which the one before may have changed too.
          const own =
            after.channel === channel ? _id : subject.integrations.expectedPrimary(after.channel)
          const expected = { ...(after._id === _id ? after : former), primary: after._id === own }
          checkSame(after, expected, `after set-primary of ${_id}: ${after._id}`)
        }
      }
    }
  },
  {
    id: 'primary.body',
    rule: 'The body has no meaning: none, `{}`, a form or text.',
    basis: settled('Set primary: the body'),
    async run(subject) {
      const { _id } = await subject.integrations.one()
      const expected = await set(subject, _id)
      const form = 'application/x-www-form-urlencoded'
      const bodies = { '{}': 'application/json', 'primary=false': form, none: 'text/plain' }
      for (const [body, type] of Object.entries(bodies)) {
        const found = await set(subject, _id, { headers: { 'content-type': type }, body })
        checkSame(found, expected, `the answer to a body of ${type}`)
      }
    }
  },
  {
    id: 'primary.storm',
    rule: 'Set-primary of two integrations at the same time leaves one primary, and each answer is that of its integration.',
    basis: contract('One integration per channel can be primary in an environment.'),
    async run(subject) {
      const pair = await subject.integrations.pair()
      const ids = Array.from({ length: 8 }, (_, index) => pair[index % 2]?._id ?? '')
      const answers = await Promise.all(ids.map((id) => set(subject, id)))
      for (const [index, { _id, primary }] of answers.entries()) {
        const isRight = _id === ids[index] && primary === true
        check(isRight, `set-primary of ${ids[index]} answers with ${_id}, primary ${primary}`)
      }
      const all = await subject.integrations.listed().catch(() => [])
      const { length } = all.filter((each) => each.primary && each.channel === pair[0].channel)
      check(
        all.length === 0 || length === 1,
        `after it, ${length} integrations of the channel are primary`
      )
    }
  }
]

/** Makes an integration primary. Returns the contract's fields of the answer. */
async function set({ integrations }: Subject, id: string, ask?: Ask): Promise<Integration> {
  return ofContract(recordIn<Integration>(await integrations.set(id, ask)))
}

const listed = async ({ integrations }: Subject) => (await integrations.listed()).map(ofContract)

/** Returns the fields of the contract: others, such as when it was changed, may change. */
function ofContract(integration: Integration): Integration {
  const fields = Object.entries(integration).filter(([name]) => name in Integration.properties)
  return Object.fromEntries(fields) as Integration
}

const REPEATED = settled('Behavior of a repeated request carrying the same `idempotency-key`')

export const IDEMPOTENCY: readonly ConformanceCase[] = [
  {
    id: 'idempotency.accepted',
    rule: 'With a key, set-primary answers as without.',
    basis: contract(
      'All accept the optional header `idempotency-key` (string; for idempotency purposes)'
    ),
    async run(subject) {
      const { id, key } = await unused(subject)
      const without = await set(subject, id)
      checkSame(
        ofContract(recordIn(await post(subject, id, key))),
        without,
        'the answer with a key and that without'
      )
    }
  },
  {
    id: 'idempotency.replay',
    rule: 'A repeated key gets the stored answer, byte for byte, with `Idempotency-Key` and `Idempotency-Replay: true`; another key, also one that differs in case, an empty one and none are answered afresh.',
    basis: REPEATED,
    async run(subject) {
      const { id, key } = await unused(subject)
      const first = await post(subject, id, key)
      checkStatus(first, 200)
      checkJsonType(first, true)
      checkFresh(first, key)
      checkReplay(await post(subject, id, key), first, key)
      for (const other of [key.toUpperCase(), randomUUID(), '', undefined]) {
        checkFresh(await post(subject, id, other), other || null)
      }
    }
  },
  {
    id: 'idempotency.refusal',
    rule: 'A refusal of the operation is kept too: its replay is the same, byte for byte.',
    basis: settled('Idempotency: which answers are kept'),
    documentOnly: true,
    async run(subject) {
      await subject.integrations.one()
      const id = unknownId()
      const key = randomUUID()
      const first = await post(subject, id, key)
      checkStatus(first, 404)
      // Else the two could be alike by being of one millisecond.
      await subject.list({ limit: 1 })
      checkReplay(await post(subject, id, key), first, key)
    }
  },
  {
    id: 'idempotency.not-run',
    rule: 'The first request with a key runs the operation, and a replay does not: what has been changed since stays.',
    basis: REPEATED,
    async run(subject) {
      const [one, two] = await subject.integrations.pair()
      const key = randomUUID()
      const isPrimary = async (id: string) =>
        (await listed(subject)).some(({ _id, primary }) => _id === id && primary)
      recordIn(await subject.integrations.set(two._id))
      checkStatus(await post(subject, one._id, key), 200)
      if (!(await isPrimary(one._id)))
        throw new Breach(`set-primary of ${one._id} with a key has not made it primary`)
      recordIn(await subject.integrations.set(two._id))
      await post(subject, one._id, key)
      check(
        await isPrimary(two._id),
        `a replay of set-primary of ${one._id} has made it primary again`
      )
    }
  },
  {
    id: 'idempotency.other-body',
    rule: 'A key with another body is a 422 `Request with key "<key>" is being reused for a different body`, and keeps its answer.',
    basis: REPEATED,
    async run(subject) {
      const { id, key } = await unused(subject)
      const sent = (body: string) =>
        post(subject, id, key, { headers: { 'content-type': 'application/json' }, body })
      const first = await sent('{"a":1}')
      const answer = await sent('{"a":2}')
      checkStatus(answer, 422)
      const message = `Request with key "${key}" is being reused for a different body`
      check(messageIn(answer) === message, 'the message of the 422 is another', answer)
      checkReplay(await sent('{"a":1}'), first, key)
    }
  },
  {
    id: 'idempotency.bounds',
    rule: 'A key of 255 characters is accepted, and one of 256 refused with 400; a 401 is not kept.',
    basis: settled('Idempotency: the length of a key, and which answers are kept'),
    async run(subject) {
      const { id, key } = await unused(subject)
      const long = key.repeat(7)
      checkStatus(
        await post(subject, id, long.slice(0, 255), { authorization: `ApiKey ${UNKNOWN_KEY}` }),
        401
      )
      checkStatus(await post(subject, id, long.slice(0, 255)), 200)
      checkStatus(await post(subject, id, long.slice(0, 256)), 400)
    }
  },
  {
    id: 'idempotency.in-use',
    rule: 'Of requests with one key at the same time one is answered afresh; the others are replays, or 409 with `Retry-After`.',
    basis: REPEATED,
    async run(subject) {
      const { id, key } = await unused(subject)
      const answers = await Promise.all(Array.from({ length: 6 }, () => post(subject, id, key)))
      const fresh = answers.filter(
        ({ status, headers }) => status !== 409 && !headers.has('idempotency-replay')
      )
      check(fresh.length === 1, `of 6 requests with one key, ${fresh.length} were answered afresh`)
      for (const answer of answers) {
        const { status, headers, text } = answer
        const isRight =
          status === 409 ? /^\d+$/.test(headers.get('retry-after') ?? '') : text === fresh[0]?.text
        check(
          isRight,
          `a ${status} has no Retry-After, or another body than the first answer`,
          answer
        )
      }
    }
  }
]

/** Returns an integration and a key that was not used before, with letters in it. */
async function unused({ integrations }: Subject): Promise<{ id: string; key: string }> {
  return { id: (await integrations.one())._id, key: `k-${randomUUID()}` }
}

function post(
  { integrations }: Subject,
  id: string,
  key: string | undefined,
  more: Ask = {}
): Promise<Answer> {
  const headers = { ...more.headers, ...(key !== undefined && { 'idempotency-key': key }) }
  return integrations.set(id, { ...more, headers })
}

function checkFresh(answer: Answer, key: string | null): void {
  const { headers } = answer
  check(
    headers.get('idempotency-key') === key,
    'Idempotency-Key is not that of the request',
    answer
  )
  check(
    !headers.has('idempotency-replay'),
    'an answer that is no replay has Idempotency-Replay',
    answer
  )
}

function checkReplay(answer: Answer, first: Answer, key: string): void {
  const { status, text, headers } = answer
  check(
    status === first.status,
    `status ${status} when the key is repeated, and ${first.status} before`,
    answer
  )
  check(text === first.text, 'the body is another when the key is repeated', answer)
  check(
    headers.get('idempotency-replay') === 'true',
    'a replay has no Idempotency-Replay: true',
    answer
  )
  check(headers.get('idempotency-key') === key, 'a replay has not its Idempotency-Key', answer)
  const type = headers.get('content-type')
  check(
    type === first.headers.get('content-type'),
    'a replay has another content-type than the first answer',
    answer
  )
}
