import { check, needed } from '../../outcome.js'
import { type ConformanceCase, contract, settled } from '../case.js'
import { checkContext, checkFiltered, contextOf, contextsOf } from '../filtered.js'

const CONTEXTS = contract(
  'contextKeys: Filter by exact context keys, order insensitive; repeated as a query parameter once per key'
)

export const CONTEXT_FILTERS: ConformanceCase[] = [
  {
    id: 'filter.context',
    tier: 'behaviour',
    rule: 'Context keys find the messages that are in exactly these contexts.',
    basis: CONTEXTS,
    needs: ['contexts'],
    async run(subject) {
      for (const keys of await contextsOf(subject, 5)) await checkContext(subject, keys, keys)
    }
  },
  {
    id: 'filter.context-order',
    tier: 'behaviour',
    rule: 'The order of context keys has no meaning.',
    basis: CONTEXTS,
    needs: ['contexts'],
    async run(subject) {
      const keys = (await contextsOf(subject, 1000)).find(({ length }) => length > 1)
      needed(keys !== undefined, 'it needs a message with two contexts')
      await checkContext(subject, [...keys].reverse(), keys)
    }
  },
  {
    id: 'filter.context-exact',
    tier: 'behaviour',
    rule: 'One context key does not find the messages that are in other contexts too.',
    basis: CONTEXTS,
    needs: ['contexts'],
    async run(subject) {
      const keys = (await contextsOf(subject, 1000)).find(({ length }) => length > 1)
      needed(keys !== undefined, 'it needs a message with two contexts')
      for (const key of keys) await checkContext(subject, [key], [key])
    }
  },
  {
    id: 'filter.context-twice',
    tier: 'behaviour',
    rule: 'A context key that is given twice counts once.',
    basis: settled('List messages: contextKeys is a set'),
    needs: ['contexts'],
    async run(subject) {
      const [keys = []] = await contextsOf(subject, 1)
      await checkContext(subject, [...keys, ...keys], keys)
    }
  },
  {
    id: 'filter.context-empty',
    tier: 'behaviour',
    rule: 'An empty `contextKeys` finds the messages that are in no context.',
    basis: settled('List messages: contextKeys='),
    needs: ['messages'],
    async run(subject) {
      await checkFiltered(subject, [['contextKeys', '']], (message) => contextOf(message).length === 0)
    }
  },
  {
    id: 'filter.context-unknown',
    tier: 'behaviour',
    rule: 'A context that no message is in finds an empty page.',
    basis: CONTEXTS,
    needs: [],
    async run({ list, unknownId }) {
      const { data, answer } = await list([['contextKeys', `tenant:${unknownId()}`]])
      check(data.length === 0, `${answer.request}: ${data.length} messages, must be none`)
    }
  }
]
