import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { parseTime } from '../../core/clock.js'
import { OPERATION_IDS } from '../../core/enums.js'
import { DomainError, invalidFields } from '../../core/errors.js'
import { ref, strictObject, stringEnum } from '../../core/typebox.js'
import type { Environment, EnvironmentService } from '../../environments/service.js'
import { controlRoute } from '../../http/control-route.js'
import { type NearMiss, RecordedRequest, type RequestPattern, Verification, VerificationHolds } from './schemas.js'
import type { Answered, Journal, JournalService } from './service.js'
import { mismatches, nearMisses, patternsOf, refuseImpossible, type Verdict, verify } from './verification.js'

interface Options {
  journals: JournalService
  environments: EnvironmentService
}

const JournalQuery = strictObject({
  operation: Type.Optional(stringEnum(OPERATION_IDS)),
  method: Type.Optional(Type.String()),
  path: Type.Optional(Type.String({ description: 'Exactly this path' })),
  status: Type.Optional(Type.Integer({ minimum: 100, maximum: 599 })),
  since: Type.Optional(Type.String({ description: 'Not before this time, ISO 8601' })),
  after: Type.Integer({
    default: 0,
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    description: 'Only with a greater n'
  })
})

const JournalPage = strictObject({ requests: Type.Array(ref(RecordedRequest)) })

const HEARTBEAT = 15_000

/** What was asked of an environment: listed, streamed, verified. */
export const journalRoutes: FastifyPluginAsyncTypebox<Options> = async (app, { journals, environments }) => {
  app.route({
    ...controlRoute({
      id: 'listRequests',
      method: 'GET',
      url: '/requests',
      summary: 'List recorded requests, oldest first',
      tag: 'Requests',
      querystring: JournalQuery,
      response: JournalPage
    }),
    handler: ({ environment, query }) => ({ requests: selected(journals.of(environment), query) })
  })

  app.route({
    ...controlRoute({
      id: 'clearRequests',
      method: 'DELETE',
      url: '/requests',
      summary: 'Remove all recorded requests',
      tag: 'Requests'
    }),
    handler: ({ environment }, reply) => {
      journals.of(environment).clear()
      return reply.code(204).send()
    }
  })

  app.route({
    ...controlRoute({
      id: 'streamRequests',
      method: 'GET',
      url: '/requests/stream',
      summary: 'Stream requests as they are answered',
      description:
        'Server-sent events: one `request` for each request that is answered. `Last-Event-ID` resumes after the event with that id.',
      tag: 'Requests',
      response: Type.String(),
      responseType: 'text/event-stream'
    }),
    // A HEAD request has no body, so its stream would never end.
    exposeHeadRoute: false,
    handler: (request, reply) => stream(journals.of(request.environment), request, reply)
  })

  app.route({
    ...controlRoute({
      id: 'verifyRequests',
      method: 'POST',
      url: '/requests/verify',
      summary: 'Verify that requests were made',
      tag: 'Requests',
      body: ref(Verification),
      response: ref(VerificationHolds),
      errors: [417]
    }),
    handler: async ({ environment, body: verification }, reply) => {
      refuseImpossible(verification)
      const journal = journals.of(environment)
      if (journal.capacity === 0) throw JOURNAL_OFF
      const verdict = await settled(journal, verification, reply)
      const lost = journal.lost(verification.after)
      if (!verdict.holds) throw notHeld(verdict, journal.entries(verification.after), lost, environment)
      const requests = verdict.matched.map(({ n }) => n)
      return { matched: requests.length, requests, ...(lost > 0 && { lost }) }
    }
  })

  function notHeld(verdict: Verdict, entries: RecordedRequest[], lost: number, asked: Environment): DomainError {
    const { finding, matched, missing } = verdict
    const nearest = nearMisses(entries, verdict)
    const elsewhere = missing ? foundElsewhere(missing.pattern, asked) : []
    const forgotten = lost > 0 ? [`${lost} older requests are no longer in the journal`] : []
    return new DomainError('expectation-failed', finding, {
      reason: [finding, ...elsewhere, ...inWords(nearest), ...forgotten].join('; '),
      ctx: { matched: matched.map(({ n }) => n), nearest, elsewhere, ...(lost > 0 && { lost }) }
    })
  }

  /** The commonest mistake of all: it was asked, with another key. */
  function foundElsewhere(pattern: RequestPattern, asked: Environment): string[] {
    const isIn = (journal: Journal) => journal.entries().some((entry) => mismatches(entry, pattern).length === 0)
    const found = environments
      .list()
      .filter((other) => other.key !== asked.key && isIn(journals.of(other)))
      .map(({ name, organizationId }) =>
        organizationId === asked.organizationId
          ? `such a request came with the key of environment ${name}`
          : 'such a request came with the key of an environment of another organization'
      )
    const keyless = isIn(journals.of(undefined)) ? ['such a request came without a valid key'] : []
    return [...new Set([...found, ...keyless])]
  }
}

const JOURNAL_OFF = new DomainError('bad-request', 'The journal is turned off', {
  reason: 'the server was started to keep no requests, so nothing can be said of them: start it with a journal'
})

/** The requests that came with no valid key: of nobody's environment, so a matter of the server. */
export const keylessRequestRoutes: FastifyPluginAsyncTypebox<Pick<Options, 'journals'>> = async (app, { journals }) => {
  app.route({
    ...controlRoute({
      id: 'listKeylessRequests',
      method: 'GET',
      url: '/requests/keyless',
      summary: 'List requests without a valid key',
      tag: 'Requests',
      access: 'server',
      querystring: JournalQuery,
      response: JournalPage
    }),
    handler: ({ query }) => ({ requests: selected(journals.of(undefined), query) })
  })
}

function selected(journal: Journal, { after, since, ...pattern }: Static<typeof JournalQuery>): RecordedRequest[] {
  const from = since === undefined ? undefined : parseTime(since)
  if (since !== undefined && from === undefined) {
    throw invalidFields({ since: { messages: ['since must be a time in ISO 8601, with its zone'], value: since } })
  }
  return journal
    .entries(after)
    .filter((entry) => mismatches(entry, pattern).length === 0)
    .filter(({ time }) => from === undefined || Date.parse(time) >= from)
}

/** What a client that does not read may leave waiting, before it is hung up on: it can resume. */
const MAX_UNREAD = 16 * 1024 * 1024
const LINGER = 1000

function stream(journal: Journal, request: FastifyRequest, reply: FastifyReply): void {
  const { raw } = reply
  const seen = Number(request.headers['last-event-id'] || Number.NaN)
  reply.hijack()
  raw.writeHead(200, {
    ...(reply.getHeaders() as Record<string, string>),
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    // It ends when the server does, which then need not wait for the client to hang up.
    connection: 'close'
  })
  raw.write(': the requests of this environment, as they are answered\n\n')
  const tell = ({ place, entry }: Answered) => {
    raw.write(`id: ${place}\nevent: request\ndata: ${JSON.stringify(entry)}\n\n`)
    if (raw.writableLength > MAX_UNREAD) raw.destroy()
  }
  if (Number.isInteger(seen)) for (const answered of journal.answeredAfter(seen)) tell(answered)
  const heartbeat = setInterval(() => void raw.write(':\n\n'), HEARTBEAT)
  const stopTelling = journal.onAnswered(tell)
  const stopWaiting = journal.onEnd(() => {
    raw.end()
    setTimeout(() => raw.destroy(), LINGER).unref()
  })
  raw.once('close', () => {
    clearInterval(heartbeat)
    stopTelling()
    stopWaiting()
  })
}

/** The verdict, at once or, with `within`, as soon as nothing can change it any more, or the time is up. */
function settled(journal: Journal, verification: Verification, { raw }: FastifyReply): Promise<Verdict> {
  const judge = () => verify(journal.entries(verification.after), verification)
  const { within, after = 0 } = verification
  const first = judge()
  if (within === undefined || first.final || journal.ended) return Promise.resolve(first)

  const patterns = patternsOf(verification)
  const mayChangeIt = (entry: RecordedRequest) =>
    entry.n > after && patterns.some((pattern) => mismatches(entry, pattern).length === 0)
  return new Promise((resolve) => {
    const timer = setTimeout(finish, within)
    const stopLooking = journal.onChange((entry) => {
      if (mayChangeIt(entry) && judge().final) finish()
    })
    const stopWaiting = journal.onEnd(finish)
    raw.once('close', finish)

    function finish(): void {
      clearTimeout(timer)
      stopLooking()
      stopWaiting()
      raw.off('close', finish)
      resolve(judge())
    }
  })
}

function inWords(nearest: NearMiss[]): string[] {
  return nearest.slice(0, 1).map(({ request, differs }) => {
    const fields = differs.map(
      ({ field, actual }) => `${field} is ${actual === undefined ? 'not there' : JSON.stringify(actual)}`
    )
    const { query, headers } = request.unread
    const unread = [...query, ...headers].join(', ')
    const hint = unread ? `, and which sent what is not read: ${unread}` : ''
    return `nearest is request ${request.n}, of which ${fields.join(' and ')}${hint}`
  })
}
