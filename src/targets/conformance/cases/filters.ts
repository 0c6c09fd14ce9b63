import { CHANNELS } from '../../../core/enums.js'
import type { MessageResponse } from '../../../messages/schemas.js'
import { jsonIn, type Parameters } from '../../answers.js'
import { check, checkSame, needed } from '../../outcome.js'
import { type ConformanceCase, contract, settled } from '../case.js'
import {
  checkContext,
  checkFiltered,
  contextOf,
  contextsOf,
  LIMIT,
  subscribersOf,
  transactionsOf
} from '../filtered.js'

const TRANSACTIONS = contract('transactionId: array of string; Filter by transaction ids')

export const FILTERS: ConformanceCase[] = [
  {
    id: 'filter.order',
    tier: 'behaviour',
    rule: 'Messages are listed newest first, and those of one time by `_id`, descending.',
    basis: settled('Sort order of the message list'),
    needs: ['messages'],
    async run({ sample }) {
      const { messages } = await sample()
      for (const [index, later] of messages.slice(1).entries()) {
        const former = messages[index] ?? later
        const [one, two] = [Date.parse(former.createdAt), Date.parse(later.createdAt)]
        const inOrder = one > two || (one === two && String(former._id) > String(later._id))
        check(inOrder, `message ${later._id} is listed after ${former._id}`)
      }
    }
  },
  {
    id: 'filter.channel',
    tier: 'behaviour',
    rule: 'The list of a channel is that of all messages without those of other channels.',
    basis: contract('channel: Filter by channel: `in_app`, `email`, `sms`, `chat`, `push`'),
    needs: ['messages'],
    async run(subject) {
      for (const channel of CHANNELS) {
        await checkFiltered(subject, [['channel', channel]], (message) => message.channel === channel)
      }
    }
  },
  {
    id: 'filter.channel-totals',
    tier: 'behaviour',
    rule: 'The totals of the five channels add up to the total.',
    basis: contract('totalCount: Total number of messages available'),
    needs: [],
    async run({ list }) {
      const all = await list([['limit', 1]])
      needed(all.totalCount !== undefined, 'the target gives no totals')
      let sum = 0
      for (const channel of CHANNELS) {
        const page = await list([
          ['channel', channel],
          ['limit', 1]
        ])
        sum += Number(page.totalCount)
      }
      check(sum === all.totalCount, `the totals of the channels add up to ${sum}, and the total is ${all.totalCount}`)
    }
  },
  {
    id: 'filter.subscriber',
    tier: 'behaviour',
    rule: 'The list of a subscriber, by its `subscriberId`, is that of all messages without those to others.',
    basis: contract('subscriberId: Filter by subscriber; identifier used to create the subscriber'),
    needs: ['messages'],
    async run(subject) {
      for (const { subscriber, _subscriberId } of await subscribersOf(subject)) {
        const parameters: Parameters = [['subscriberId', subscriber]]
        await checkFiltered(subject, parameters, (message) => message._subscriberId === _subscriberId)
      }
    }
  },
  {
    id: 'filter.subscriber-whole',
    tier: 'behaviour',
    rule: 'A part of a `subscriberId` finds none of its messages.',
    basis: contract('subscriberId: Filter by subscriber'),
    needs: ['messages'],
    async run(subject) {
      const [{ subscriber = '', _subscriberId = '' } = {}] = await subscribersOf(subject)
      const part = subscriber.slice(0, -1)
      needed(part !== '', 'the subscriberId has one character')
      const answer = await subject.ask(`/v1/messages?limit=100&subscriberId=${encodeURIComponent(part)}`)
      const { data = [] } = (jsonIn(answer) ?? {}) as { data?: MessageResponse[] }
      const found = answer.status === 200 && data.some((each) => each._subscriberId === _subscriberId)
      check(!found, `${answer.request}: finds messages of another subscriber`)
    }
  },
  {
    id: 'filter.transaction',
    tier: 'behaviour',
    rule: 'The list of a transaction is that of all messages without those of other transactions.',
    basis: TRANSACTIONS,
    needs: ['messages'],
    async run(subject) {
      for (const transactionId of await transactionsOf(subject, 3)) {
        await checkFiltered(
          subject,
          [['transactionId', transactionId]],
          (message) => message.transactionId === transactionId
        )
      }
    }
  },
  {
    id: 'filter.transactions',
    tier: 'behaviour',
    rule: 'Several transaction ids find the messages of any of them.',
    basis: TRANSACTIONS,
    needs: ['messages'],
    async run(subject) {
      const ids = await transactionsOf(subject, 3)
      needed(ids.length > 1, 'it needs messages of two transactions')
      const parameters = ids.map((id) => ['transactionId', id] as const)
      await checkFiltered(subject, parameters, ({ transactionId }) => ids.includes(transactionId))
    }
  },
  ...spellings(),
  {
    id: 'filter.transaction-comma',
    tier: 'behaviour',
    rule: 'A transaction id is not split at commas.',
    basis: settled('List messages: how lists are spelled'),
    needs: ['messages'],
    async run(subject) {
      const ids = await transactionsOf(subject, 2)
      needed(ids.length > 1, 'it needs messages of two transactions')
      const page = await subject.list([['transactionId', ids.join(',')]])
      check(page.data.length === 0, `${page.answer.request}: ${page.data.length} messages, must be none`)
    }
  },
  {
    id: 'filter.transaction-unknown',
    tier: 'behaviour',
    rule: 'A transaction that no message is of finds an empty page.',
    basis: TRANSACTIONS,
    needs: [],
    async run({ list, unknownId }) {
      const { data, hasMore, totalCount = 0, answer } = await list([['transactionId', unknownId()]])
      const isEmpty = data.length === 0 && hasMore === false && totalCount === 0
      check(isEmpty, `${answer.request}: the page is not empty, or not the last, or has a total`)
    }
  },
  {
    id: 'filter.and',
    tier: 'behaviour',
    rule: 'Filters are joined by AND.',
    basis: contract('List messages: filters'),
    needs: ['messages'],
    async run(subject) {
      const [{ subscriber = '', _subscriberId = '' } = {}] = await subscribersOf(subject)
      for (const channel of CHANNELS) {
        const parameters: Parameters = [
          ['channel', channel],
          ['subscriberId', subscriber]
        ]
        const isMeant = (message: MessageResponse) =>
          message.channel === channel && message._subscriberId === _subscriberId
        await checkFiltered(subject, parameters, isMeant)
      }
    }
  },
  {
    id: 'filter.and-all',
    tier: 'behaviour',
    rule: 'All four filters of a message together find it, and each other value of one of them does not.',
    basis: contract('List messages: filters'),
    needs: ['contexts'],
    async run(subject) {
      const { messages } = await subject.sample()
      const message = messages.find((each) => contextOf(each).length > 0 && each.subscriber?.subscriberId)
      needed(message !== undefined, 'it needs a message with a context and a subscriber')
      const { channel, transactionId, subscriber } = message
      const other = CHANNELS.find((each) => each !== channel) ?? ''
      for (const asked of [channel, other]) {
        const page = await subject.list([
          ['channel', asked],
          ['transactionId', transactionId],
          ['subscriberId', subscriber?.subscriberId ?? ''],
          ...contextOf(message).map((key) => ['contextKeys', key] as const),
          ['limit', LIMIT]
        ])
        const isFound = page.data.some(({ _id }) => _id === message._id)
        check(
          isFound === (asked === channel),
          `${page.answer.request}: message ${message._id} is ${isFound ? '' : 'not '}found`
        )
      }
    }
  },
  {
    id: 'filter.paged',
    tier: 'behaviour',
    rule: 'A filtered list is paged like the whole list.',
    basis: contract('page: Page number; limit: Number of messages per page'),
    needs: ['messages'],
    async run({ list, sample }) {
      const channel = (await sample()).messages[0]?.channel ?? ''
      const whole = await list([
        ['channel', channel],
        ['limit', 12]
      ])
      const joined: unknown[] = []
      for (const page of [0, 1, 2, 3]) {
        joined.push(
          ...(
            await list([
              ['channel', channel],
              ['limit', 3],
              ['page', page]
            ])
          ).data.map(({ _id }) => _id)
        )
      }
      checkSame(
        joined,
        whole.data.map(({ _id }) => _id),
        `the pages of channel ${channel} joined, and its list`
      )
    }
  },
  {
    id: 'filter.empty',
    tier: 'behaviour',
    rule: 'An empty `channel`, `subscriberId` or `transactionId` is no filter.',
    basis: settled('List messages: empty filters'),
    needs: ['messages'],
    async run(subject) {
      for (const name of ['channel', 'subscriberId', 'transactionId'])
        await checkFiltered(subject, [[name, '']], () => true)
    }
  },
  {
    id: 'filter.unknown-parameter',
    tier: 'behaviour',
    rule: 'A parameter that the contract does not name has no effect.',
    basis: settled('List messages: unknown parameters'),
    needs: ['messages'],
    async run(subject) {
      await checkFiltered(subject, [['conformance', 'email']], () => true)
    }
  },
  {
    id: 'filter.idempotency-key',
    tier: 'behaviour',
    rule: 'An `idempotency-key` on a GET has no effect: the next one with it is answered afresh, without headers of it.',
    basis: settled('Idempotency: on GET'),
    needs: [],
    async run({ list, random }) {
      const headers = { 'idempotency-key': random.uuid() }
      const [one, two] = [await list([['limit', 1]], { headers }), await list([['limit', 2]], { headers })]
      check(two.pageSize === 2, `${two.answer.request}: it is answered as a request before, with the same key`)
      for (const { answer } of [one, two]) {
        const named = ['idempotency-key', 'idempotency-replay'].find((name) => answer.headers.has(name))
        check(named === undefined, `${answer.request}: the answer has the header ${named}`)
      }
    }
  }
]

/** The ways to write a list. */
function spellings(): ConformanceCase[] {
  const ways = { brackets: () => '[]', indexes: (index: number) => `[${index}]` }
  return Object.entries(ways).map(([name, suffix]) => ({
    id: `filter.${name}`,
    tier: 'behaviour',
    rule: `A list may be written as \`transactionId${suffix(0)}=\`, and \`contextKeys\` too.`,
    basis: settled('List messages: how lists are spelled'),
    needs: ['messages'],
    async run(subject) {
      const ids = await transactionsOf(subject, 2)
      const parameters = ids.map((id, index) => [`transactionId${suffix(index)}`, id] as const)
      await checkFiltered(subject, parameters, ({ transactionId }) => ids.includes(transactionId))
      const contexts = await contextsOf(subject, 1)
      for (const keys of contexts) await checkContext(subject, keys, keys, suffix)
    }
  }))
}
