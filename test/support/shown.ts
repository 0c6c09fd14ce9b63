import { subscribe } from 'node:diagnostics_channel'
import { Socket } from 'node:net'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { createCounts } from '../../src/control/coverage/counts.js'
import { type CoveragePlan, planOf } from '../../src/control/coverage/plan.js'
import {
  ASSUMPTION_IDS,
  type AssumptionId,
  type Assumptions,
  assume,
  PROFILES,
  type Profile
} from '../../src/core/assumptions.js'
import { idIn } from '../../src/core/ids.js'
import { idFromSlug } from '../../src/core/slug.js'
import type { Environment } from '../../src/environments/service.js'
import type { Operation } from '../../src/http/operation.js'

/** The positions of an environment: those of a profile, or `mixed`, a profile with some rows of the register changed. */
type Positions = Profile | 'mixed'

/**
 * What the answers of servers of this process have shown, and the positions of the environments that gave them: none for a
 * request without a valid key. Names are those of the coverage, and these beside: `<operation>.path.<parameter>.<form>`,
 * `<operation>.request.<header>`, `<operation>.response.<header>`, `unserved.<status>`, and `register.<row>=<position>` of a
 * row in another position than the environment's profile has it.
 */
export type Shown = Record<string, Positions[]>

let counts = new Map<Positions | undefined, ReturnType<typeof createCounts>>()
let others = new Map<string, Set<Positions>>()
let keyless: Positions | undefined
const plans = new Map<Operation, CoveragePlan>()

/** Forgets what was shown. Requests without a valid key count for the profile that is given, if one is. */
export function startNoting(profile?: Profile): void {
  counts = new Map()
  others = new Map()
  keyless = profile
}

/** Returns what was shown since then. */
export function shownSoFar(): Shown {
  const all = new Map([...others].map(([name, positions]) => [name, new Set(positions)]))
  for (const [positions, { operations }] of counts) {
    for (const [plan, { items }] of operations) {
      for (const [index, { id, byFault }] of plan.items.entries()) {
        const [met = 0, injected = 0] = items.subarray(index * 2)
        if (met > 0 || (byFault && injected > 0)) add(all, id, positions)
      }
    }
  }
  const sorted = [...all].sort(([one], [two]) => (one < two ? -1 : 1))
  return Object.fromEntries(sorted.map(([name, positions]) => [name, [...positions].sort()]))
}

/** Returns what of the cited was not shown, one a line. */
export function staleCitations(cited: Shown, shown: Shown): string[] {
  return Object.entries(cited).flatMap(([name, positions]) => {
    if (!shown[name]) return [name]
    return positions.filter((each) => !shown[name]?.includes(each)).map((each) => `${name}, profile ${each}`)
  })
}

// Fastify tells of each server that is created in this process, so that the tests start theirs as anybody would.
subscribe('fastify.initialization', (message) => {
  // Before an answer is sent: its client can't have it yet, and so no test can have ended with it.
  ;(message as { fastify: FastifyInstance }).fastify.addHook('onSend', (request, reply, payload, done) => {
    // Not of requests by which a document makes its examples.
    if (request.raw.socket instanceof Socket) note(request, reply)
    done(null, payload)
  })
})

function note(request: FastifyRequest, reply: FastifyReply): void {
  const { journalEntry: entry, environment, errorCode, idempotencyKey } = request
  // The control routes have none, and HEAD counts for nothing.
  if (!entry || entry.ignored) return
  const { positions, changed } = environment ? standOf(environment) : { positions: keyless, changed: [] }
  const { operation, injected, sent } = entry
  if (!injected) for (const name of changed) add(others, name, positions)
  if (!operation) {
    add(others, `unserved.${reply.statusCode}`, positions)
    return
  }
  const plan = plans.get(operation) ?? planOf(operation)
  plans.set(operation, plan)
  const replayed = reply.hasHeader('idempotency-replay')
  const ended = { status: reply.statusCode, errorCode, sent, injected, replayed, hasKey: idempotencyKey !== undefined }
  const own = counts.get(positions) ?? createCounts()
  counts.set(positions, own)
  own.add(ended, plan, undefined)
  if (injected) return
  for (const name of Object.keys(reply.getHeaders())) add(others, `${operation.id}.response.${name}`, positions)
  if (reply.statusCode === 200) noteSent(request, operation, positions)
}

function noteSent({ params, headers }: FastifyRequest, { id }: Operation, positions: Positions | undefined): void {
  add(others, `${id}.request.authorization`, positions)
  if (headers['idempotency-key'] !== undefined) add(others, `${id}.request.idempotency-key`, positions)
  for (const [name, value] of Object.entries(params as Record<string, string>)) {
    add(others, `${id}.path.${name}.${formOf(name, value)}`, positions)
  }
}

/** Returns which of its names a record was asked for by. */
function formOf(parameter: string, value: string): '_id' | 'identifier' | 'slug' {
  if (idIn(value) !== undefined) return '_id'
  const kind = { workflowId: 'wf', stepId: 'st' }[parameter] as 'wf' | 'st' | undefined
  return kind && idFromSlug(value, kind) !== undefined ? 'slug' : 'identifier'
}

interface Stand {
  positions: Positions
  /** Names of the rows that are in another position than the profile has them. */
  changed: string[]
}

const stands = new WeakMap<Assumptions, Stand>()

function standOf({ assumptions, profile }: Environment): Stand {
  let stand = stands.get(assumptions)
  if (stand === undefined) {
    stand = {
      positions: PROFILES.find((each) => rowsChanged(assumptions, each).length === 0) ?? 'mixed',
      changed: rowsChanged(assumptions, profile).map((row) => `register.${row}=${assumptions[row]}`)
    }
    stands.set(assumptions, stand)
  }
  return stand
}

function rowsChanged(assumptions: Assumptions, profile: Profile): AssumptionId[] {
  const usual = assume(profile)
  return ASSUMPTION_IDS.filter((row) => assumptions[row] !== usual[row])
}

function add(names: Map<string, Set<Positions>>, name: string, positions: Positions | undefined): void {
  let known = names.get(name)
  if (known === undefined) {
    known = new Set()
    names.set(name, known)
  }
  if (positions !== undefined) known.add(positions)
}
