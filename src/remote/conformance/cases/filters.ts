import { randomUUID } from 'node:crypto'
import { CHANNELS } from '../../../domain/enums.js'
import type { MessageResponse } from '../../../messages/schemas.js'
import { listPath, unknownId } from '../../paths.js'
import { type Answer, check, checkSame, isObject, needed, pageOf } from '../../response-checks.js'
import type { Subject } from '../../service-under-test.js'
import { type Basis, type ConformanceCase, contract, settled } from '../case.js'

const WORDS = contract(
  'List messages: the filters channel, subscriberId, transactionId, contextKeys'
)
const CONTEXT = contract(
  'contextKeys: Filter by exact context keys, order insensitive; repeated once per key'
)
const CONTEXT_SET = settled('List messages: contextKeys is a set')
const LIMIT = 100

type IsMeant = (message: MessageResponse) => boolean
type Filter = [parameters: Readonly<Record<string, string | readonly string[]>>, isMeant: IsMeant]
type FiltersOf = (subject: Subject) => Promise<Filter[]>

export const FILTERS: readonly ConformanceCase[] = [
  {
    id: 'filter.order',
    rule: 'Messages are listed newest first.',
    basis: settled('Sort order of the message list'),
    run: neighbours((older, newer) => Date.parse(older.createdAt) > Date.parse(newer.createdAt))
  },
  {
    id: 'filter.order-ties',
    rule: 'Messages of one time are listed by `_id`, descending.',
    basis: settled('Sort order of the message list'),
    documentOnly: true,
    run: neighbours(
      (one, two) => one.createdAt === two.createdAt && String(one._id) >= String(two._id)
    )
  },
  filterCase('channel', WORDS, 'Each channel', async () =>
    CHANNELS.map((channel) => [{ channel }, (message) => message.channel === channel])
  ),
  filterCase('subscriber', WORDS, 'The `subscriberId` of a subscriber', async ({ sample }) => {
    const { messages } = await sample()
    const known = new Map(
      messages.map(({ subscriber, _subscriberId }) => [subscriber?.subscriberId, _subscriberId])
    )
    known.delete(undefined)
    needed(known.size > 0, 'no message has its subscriber embedded')
    return [...known]
      .slice(0, 3)
      .map(([id = '', own]) => [{ subscriberId: id }, (each) => each._subscriberId === own])
  }),
  filterCase('transaction', WORDS, 'A transaction id, and several together,', async (subject) => {
    const ids = await transactionsOf(subject, 3)
    needed(ids.length > 1, 'no messages of two transactions are known')
    return [...ids.map((id) => [id]), ids].map((asked) => [
      { transactionId: asked },
      ({ transactionId }) => asked.includes(transactionId)
    ])
  }),
  filterCase(
    'context',
    CONTEXT,
    'The context keys of a message, in any order, or one of several,',
    async (subject) => {
      const sets = await contextsOf(subject)
      const several = sets.find(({ length }) => length > 1) ?? []
      const orders = sets
        .slice(0, 5)
        .flatMap((keys) => [contextFilter(keys), contextFilter([...keys].reverse(), keys)])
      return [...orders, ...several.map((key) => contextFilter([key]))]
    }
  ),
  {
    id: 'filter.and',
    rule: 'All filters of a message together find it, and another value of any of them does not.',
    basis: WORDS,
    async run({ sample, ask }) {
      const { messages } = await sample()
      const isFull = (each: MessageResponse) => each.subscriber && contextOf(each).length > 0
      const { _id, subscriber, ...message } = (messages.find(isFull) ??
        messages[0]) as MessageResponse
      const { channel, transactionId } = message
      const ids = { transactionId, subscriberId: subscriber?.subscriberId ?? [] }
      const own = { channel, ...ids, contextKeys: contextOf(message) }
      const others = [
        {},
        { channel: CHANNELS.find((each) => each !== channel) ?? '' },
        { transactionId: unknownId() },
        { subscriberId: unknownId() },
        { contextKeys: `tenant:${unknownId()}` }
      ]
      for (const [index, other] of others.entries()) {
        const answer = await ask(listPath({ ...own, ...other, limit: LIMIT }))
        const isFound = foundIn(answer).includes(_id)
        check(isFound === (index === 0), `message ${_id} is ${isFound ? '' : 'not '}found`, answer)
      }
    }
  },
  {
    id: 'filter.exact',
    rule: 'A part of an id or a context key, or one with other capitals, finds none of its messages.',
    basis: contract(
      'contextKeys: Filter by exact context keys; subscriberId: identifier used to create the subscriber'
    ),
    async run({ sample, ask }) {
      const { messages } = await sample()
      for (const { _id, transactionId, subscriber, contextKeys = [] } of messages.slice(0, 5)) {
        const own = {
          transactionId,
          subscriberId: subscriber?.subscriberId ?? '',
          contextKeys: contextKeys.join()
        }
        for (const [name, value] of Object.entries(own)) {
          const upper = value.toUpperCase()
          const others = [
            [...value].slice(0, -1).join(''),
            upper === value ? value.toLowerCase() : upper
          ]
          for (const other of others.filter((each) => each !== '' && each !== value)) {
            const answer = await ask(listPath({ limit: LIMIT, [name]: other }))
            check(
              !foundIn(answer).includes(_id),
              `finds message ${_id}, whose ${name} is another`,
              answer
            )
          }
        }
      }
    }
  },
  {
    id: 'filter.blank',
    rule: 'A blank in a value may be written as `+` or as `%20`, and a plus as `%2B`.',
    basis: contract('List messages: query parameters'),
    async run(subject) {
      const { messages } = await subject.sample()
      const idsOf = ({ transactionId, subscriber }: MessageResponse) =>
        Object.entries({ transactionId, subscriberId: subscriber?.subscriberId ?? '' })
      const odd = messages.flatMap(idsOf).filter(([, value]) => /[ +]/.test(value))
      needed(
        odd.length > 0,
        'no transaction or subscriber with a blank or a plus in its id is known'
      )
      for (const [name, value] of odd.slice(0, 3)) {
        for (const blank of ['%20', '+']) {
          const path = listPath({ limit: LIMIT, [name]: value }).replaceAll('%20', blank)
          await checkFiltered(subject, path, (message) =>
            idsOf(message).some(([, id]) => id === value)
          )
        }
      }
    }
  },
  filterCase(
    'spellings',
    settled('List messages: how lists are spelled'),
    'A list that is written as `transactionId[]=` or `transactionId[0]=`, and an id with a comma in it,',
    async (subject) => {
      const ids = await transactionsOf(subject, 2)
      const [contexts] = await contextsOf(subject).catch(() => [])
      const joined = ids.join(',')
      return [
        ...writtenOtherwise('transactionId', ids, ({ transactionId }) =>
          ids.includes(transactionId)
        ),
        ...(contexts ? writtenOtherwise('contextKeys', contexts, contextFilter(contexts)[1]) : []),
        [{ transactionId: joined }, ({ transactionId }) => transactionId === joined]
      ]
    }
  ),
  filterCase(
    'empty',
    settled('List messages: empty filters, contextKeys= and unknown parameters'),
    'An empty channel, subscriber, transaction or `contextKeys`, and an unknown parameter,',
    async () => [
      ...['channel', 'subscriberId', 'transactionId'].map(
        (name): Filter => [{ [name]: '' }, () => true]
      ),
      [{ conformance: 'email' }, () => true],
      [{ contextKeys: '' }, (message) => contextOf(message).length === 0]
    ]
  ),
  {
    ...filterCase(
      'context-twice',
      CONTEXT_SET,
      'A context key that is given twice',
      async (subject) => {
        const [keys = []] = await contextsOf(subject)
        return [contextFilter([...keys, ...keys], keys)]
      }
    ),
    documentOnly: true
  },
  {
    id: 'filter.idempotency-key',
    rule: 'An `idempotency-key` on a GET has no effect: the next one with it is answered afresh, without headers of it.',
    basis: settled('Idempotency: on GET'),
    async run({ list }) {
      const headers = { 'idempotency-key': randomUUID() }
      const [one, two] = [
        await list({ limit: 1 }, { headers }),
        await list({ limit: 2 }, { headers })
      ]
      check(two.pageSize === 2, 'it is answered as a request before, with the same key', two.answer)
      for (const { answer } of [one, two]) {
        const named = ['idempotency-key', 'idempotency-replay'].find((name) =>
          answer.headers.has(name)
        )
        check(named === undefined, `the answer has the header ${named}`, answer)
      }
    }
  }
]

/** A case that filters find what they mean of all messages, and no others. */
function filterCase(
  name: string,
  basis: Basis,
  what: string,
  filtersOf: FiltersOf
): ConformanceCase {
  return {
    id: `filter.${name}`,
    rule: `${what} finds what it says of the whole list, in its order, and nothing else.`,
    basis,
    async run(subject) {
      for (const [parameters, isMeant] of await filtersOf(subject)) {
        await checkFiltered(subject, listPath({ ...parameters, limit: LIMIT }), isMeant)
      }
    }
  }
}

/** Judges that no message of the list stands directly after one that it must stand before. */
function neighbours(isBefore: (message: MessageResponse, former: MessageResponse) => boolean) {
  return async ({ sample }: Subject): Promise<void> => {
    const { messages, request } = await sample()
    const wrong = messages.find(
      (each, at) => at > 0 && isBefore(each, messages[at - 1] as MessageResponse)
    )
    check(
      wrong === undefined,
      `message ${wrong?._id} is listed after one that it must stand before`,
      request
    )
  }
}

function writtenOtherwise(name: string, values: string[], isMeant: IsMeant): Filter[] {
  const indexed = Object.fromEntries(values.map((value, index) => [`${name}[${index}]`, value]))
  return [
    [{ [`${name}[]`]: values }, isMeant],
    [indexed, isMeant]
  ]
}

/** Throws `Failure` unless the filtered list is the subset of the newest messages that the filter means. */
async function checkFiltered(
  { ask, sample }: Subject,
  path: string,
  isMeant: IsMeant
): Promise<void> {
  const { data, answer } = pageOf(await ask(path))
  const stray = data.find((message) => !isMeant(message))
  check(stray === undefined, `message ${stray?._id} does not match`, answer)
  const { messages, isComplete } = await sample()
  const ids = data.map(({ _id }) => _id)
  const meant = messages.filter(isMeant).map(({ _id }) => _id)
  // The sample may end before the page does, and the page before the sample.
  const length = isComplete ? LIMIT : Math.min(ids.length, meant.length)
  const [found, expected] = [
    ids.slice(0, length),
    ids.length < LIMIT ? meant : meant.slice(0, length)
  ]
  const missing = expected.find((id) => !found.includes(id))
  check(missing === undefined, `message ${missing} matches and is missing`, answer)
  checkSame(found, expected, 'its messages and those of the whole list that match', answer)
}

/** Returns the ids of the messages on a page; none if it is none, as a refusal is. */
function foundIn({ status, body }: Answer): unknown[] {
  const data = status === 200 && isObject(body) && Array.isArray(body.data) ? body.data : []
  return data.map((each) => each?._id)
}

async function transactionsOf({ sample }: Subject, most: number): Promise<string[]> {
  const { messages } = await sample()
  return [...new Set(messages.map(({ transactionId }) => transactionId))].slice(0, most)
}

/** Returns the sets of contexts of messages, that of none excepted. Throws `Skipped` if no message has one. */
async function contextsOf({ sample }: Subject): Promise<string[][]> {
  const { messages } = await sample()
  const sets = new Map(
    messages.map((message) => [contextOf(message).join('\n'), contextOf(message)])
  )
  sets.delete('')
  needed(sets.size > 0, 'no message has a context')
  return [...sets.values()]
}

function contextFilter(asked: string[], meant = asked): Filter {
  const expected = [...meant].sort().join('\n')
  return [{ contextKeys: asked }, (message) => contextOf(message).join('\n') === expected]
}

function contextOf({ contextKeys }: Pick<MessageResponse, 'contextKeys'>): string[] {
  return [...new Set(contextKeys ?? [])].sort()
}
