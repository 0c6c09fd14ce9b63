import type { Integration } from '../../../integrations/schemas.js'
import { checkStatus, jsonIn, recordIn, setPrimaryPath } from '../../answers.js'
import { check, checkSame, needed } from '../../outcome.js'
import type { Ask } from '../../target.js'
import { type ConformanceCase, contract, settled } from '../case.js'
import type { Subject } from '../subject.js'

const ONE_PRIMARY = contract('One integration per channel can be primary in an environment.')
const EFFECT = contract('Effect: sets the integration as primary for its channel in the current environment.')

export const PRIMARY: ConformanceCase[] = [
  {
    id: 'primary.result',
    tier: 'effects',
    rule: 'Set-primary answers 200 with the integration that was named, which is primary.',
    basis: contract('Response: an Integration object, with `primary` reflecting the result.'),
    needs: ['pair'],
    async run(subject) {
      for (const { _id } of await subject.integrations.pair()) {
        const after = await set(subject, _id)
        check(after._id === _id, `set-primary of ${_id} answers with ${after._id}`)
        check(after.primary === true, `set-primary of ${_id} answers with primary ${after.primary}`)
      }
    }
  },
  {
    id: 'primary.active',
    tier: 'effects',
    rule: 'An integration that becomes primary is active.',
    basis: settled('Set primary: what it changes'),
    needs: ['pair'],
    async run(subject) {
      for (const { _id } of await subject.integrations.pair()) {
        const { active } = await set(subject, _id)
        check(active === true, `set-primary of ${_id} answers with active ${active}`)
      }
    }
  },
  {
    id: 'primary.conditions',
    tier: 'effects',
    rule: 'An integration that becomes primary has no conditions.',
    basis: settled('Set primary: what it changes'),
    needs: ['pair'],
    async run(subject) {
      for (const { _id } of await subject.integrations.pair()) {
        const { conditions = [] } = await set(subject, _id)
        check(conditions.length === 0, `set-primary of ${_id} answers with conditions`)
      }
    }
  },
  {
    id: 'primary.again',
    tier: 'effects',
    rule: 'A second set-primary changes nothing.',
    basis: settled('Set primary: of an integration that is primary'),
    needs: ['integration'],
    async run(subject) {
      const { _id } = await subject.integrations.one()
      const first = await set(subject, _id)
      checkSame(await set(subject, _id), first, `set-primary of ${_id}, twice: the answers`)
    }
  },
  {
    id: 'primary.back',
    tier: 'effects',
    rule: 'The former primary steps back up when it is asked again, and nothing else of it has changed.',
    basis: EFFECT,
    needs: ['pair'],
    async run(subject) {
      const [one, two] = await subject.integrations.pair()
      const before = await set(subject, one._id)
      const other = await set(subject, two._id)
      checkSame(await set(subject, one._id), before, `${one._id}, primary again: it`)
      checkSame(await set(subject, two._id), other, `${two._id}, primary again: it`)
    }
  },
  {
    id: 'primary.one',
    tier: 'effects',
    rule: 'A channel has one primary: every other integration of it steps down.',
    basis: ONE_PRIMARY,
    needs: ['pair', 'listing'],
    async run(subject) {
      for (const { _id, channel } of await subject.integrations.pair()) {
        await set(subject, _id)
        const primaries = (await listIntegrations(subject)).filter((each) => each.primary && each.channel === channel)
        const ids = primaries.map((each) => each._id).join(', ')
        check(ids === _id, `after set-primary of ${_id}, ${ids || 'nothing'} is primary of channel ${channel}`)
      }
    }
  },
  {
    id: 'primary.others',
    tier: 'effects',
    rule: 'Set-primary changes no integration of another channel, and of others of its channel only `primary`.',
    basis: settled('Set primary: what it changes'),
    needs: ['pair', 'listing'],
    async run(subject) {
      const [one, two] = await subject.integrations.pair()
      await set(subject, one._id)
      const before = await listIntegrations(subject)
      await set(subject, two._id)
      for (const after of await listIntegrations(subject)) {
        if (after._id === two._id) continue
        const former = before.find(({ _id }) => _id === after._id)
        const expected = after.channel === two.channel ? { ...former, primary: false } : former
        checkSame(after, expected, `after set-primary of ${two._id}: ${after._id}`)
      }
    }
  },
  {
    id: 'primary.body',
    tier: 'effects',
    rule: 'The body has no meaning: none, `{}`, a form or text.',
    basis: contract('All three operations send no request body.'),
    needs: ['integration'],
    async run(subject) {
      const { _id } = await subject.integrations.one()
      const expected = await set(subject, _id)
      const types = ['application/json', 'application/x-www-form-urlencoded', 'text/plain']
      for (const [index, body] of ['{}', 'primary=false', '<none>'].entries()) {
        const headers = { 'content-type': types[index] ?? '' }
        checkSame(
          await set(subject, _id, { headers, body }),
          expected,
          `set-primary with a body of ${types[index]}: the answer`
        )
      }
    }
  },
  {
    id: 'primary.malformed-body',
    tier: 'effects',
    rule: 'A body that says it is JSON and is not is refused with 400.',
    basis: settled('Set primary: the body'),
    needs: ['integration'],
    async run({ integrations }) {
      const { _id } = await integrations.one()
      const answer = await integrations.set(_id, { headers: { 'content-type': 'application/json' }, body: '{' })
      checkStatus(answer, 400)
    }
  },
  {
    id: 'primary.storm',
    tier: 'effects',
    rule: 'Set-primary of two integrations at the same time leaves one primary, and each answer is that of its integration.',
    basis: ONE_PRIMARY,
    needs: ['pair'],
    async run(subject) {
      const pair = await subject.integrations.pair()
      const ids = Array.from({ length: 8 }, (_, index) => pair[index % 2]?._id ?? '')
      const answers = await Promise.all(ids.map((id) => set(subject, id)))
      for (const [index, { _id, primary }] of answers.entries()) {
        check(
          _id === ids[index] && primary === true,
          `set-primary of ${ids[index]} answers with ${_id}, primary ${primary}`
        )
      }
      const all = await subject.integrations.list()
      const primaries = (all ?? []).filter((each) => each.primary && each.channel === pair[0].channel)
      check(!all || primaries.length === 1, `after it, ${primaries.length} integrations of the channel are primary`)
    }
  },
  {
    id: 'primary.unknown',
    tier: 'behaviour',
    rule: 'An integration that the environment does not have is a 404 `Integration with id <id> not found`.',
    basis: settled('Set primary: an unknown integration'),
    needs: [],
    async run({ ask, unknownId }) {
      const id = unknownId()
      const answer = await ask(setPrimaryPath(id), { method: 'POST' })
      checkStatus(answer, 404)
      const { message } = jsonIn(answer) as { message?: unknown }
      check(message === `Integration with id ${id} not found`, `${answer.request}: the message does not name the id`)
    }
  },
  {
    id: 'primary.get',
    tier: 'effects',
    rule: 'A GET of the path of set-primary changes nothing: it is refused.',
    basis: contract('Method and path: POST /v1/integrations/{integrationId}/set-primary'),
    needs: ['pair'],
    async run(subject) {
      const { _id } = await subject.integrations.one()
      checkStatus(await subject.ask(setPrimaryPath(_id)), 404, 405)
    }
  }
]

async function set({ integrations }: Subject, id: string, ask?: Ask): Promise<Integration> {
  return recordIn<Integration>(await integrations.set(id, ask))
}

async function listIntegrations({ integrations }: Subject): Promise<Integration[]> {
  const all = await integrations.list()
  needed(all !== undefined, 'the target does not list integrations')
  return all
}
