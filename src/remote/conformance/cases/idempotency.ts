import { randomUUID } from 'node:crypto'
import { unknownId } from '../../paths.js'
import {
  ContractViolation,
  check,
  checkJsonType,
  checkSame,
  checkStatus,
  messageOf,
  type RequestOptions,
  readRecord,
  type TargetResponse
} from '../../response-checks.js'
import type { ServiceUnderTest } from '../../service-under-test.js'
import { apiReference, behavior, type ConformanceCase } from '../case.js'
import { UNKNOWN_KEY } from './auth-and-steps.js'
import { documentedFields, listIntegrations, setPrimary } from './primary.js'

const REPEATED_REQUEST = behavior('repeated requests with the same `idempotency-key`')
const CONCURRENT_REQUESTS = 6

export const IDEMPOTENCY_CASES: readonly ConformanceCase[] = [
  {
    id: 'idempotency.accepted',
    rule: 'Set-primary returns the same integration with and without an `idempotency-key`.',
    basis: apiReference(
      'All accept the optional header `idempotency-key` (string; for idempotency purposes)'
    ),
    async run(service) {
      const { id, key } = await unusedKey(service)
      const without = await setPrimary(service, id)
      const withKey = documentedFields(readRecord(await post(service, id, key)))
      checkSame(withKey, without, 'the responses with and without a key')
    }
  },
  {
    id: 'idempotency.replay',
    rule:
      'A request that repeats a key gets the stored response, byte for byte, with the headers ' +
      '`Idempotency-Key` and `Idempotency-Replay: true`. A request without a key or with a new ' +
      'key runs the operation. Keys are case-sensitive, and an empty key is ignored.',
    basis: REPEATED_REQUEST,
    async run(service) {
      const { id, key } = await unusedKey(service)
      const first = await post(service, id, key)
      checkStatus(first, 200)
      checkJsonType(first, true)
      checkNotReplayed(first, key)
      checkReplay(await post(service, id, key), first, key)
      for (const otherKey of [key.toUpperCase(), randomUUID(), '', undefined]) {
        checkNotReplayed(await post(service, id, otherKey), otherKey || null)
      }
    }
  },
  {
    id: 'idempotency.errors',
    rule: 'If the operation fails, its error response is also stored and replayed, byte for byte.',
    basis: behavior('which responses are stored'),
    documentOnly: true,
    async run(service) {
      await service.integrations.one()
      const id = unknownId()
      const key = randomUUID()
      const first = await post(service, id, key)
      checkStatus(first, 404)
      // Let time pass, so that only a replay can have the same timestamp.
      await service.list({ limit: 1 })
      checkReplay(await post(service, id, key), first, key)
    }
  },
  {
    id: 'idempotency.not-run',
    rule:
      'The first request with a key runs the operation. A replay does not run it again, so it ' +
      'does not undo later changes.',
    basis: REPEATED_REQUEST,
    async run(service) {
      const [one, two] = await service.integrations.pair()
      const key = randomUUID()
      const isPrimary = async (id: string) =>
        (await listIntegrations(service)).some(({ _id, primary }) => _id === id && primary)
      readRecord(await service.integrations.setPrimary(two._id))
      checkStatus(await post(service, one._id, key), 200)
      if (!(await isPrimary(one._id))) {
        const problem = `set-primary with an idempotency key did not make ${one._id} primary`
        throw new ContractViolation(problem)
      }
      readRecord(await service.integrations.setPrimary(two._id))
      await post(service, one._id, key)
      const problem = `the replayed set-primary request made ${one._id} primary again`
      check(await isPrimary(two._id), problem)
    }
  },
  {
    id: 'idempotency.other-body',
    rule:
      'A key that is used again with another body is rejected with 422 and the message `Request ' +
      'with key "<key>" is being reused for a different body`. The stored response is kept.',
    basis: REPEATED_REQUEST,
    async run(service) {
      const { id, key } = await unusedKey(service)
      const postBody = (body: string) =>
        post(service, id, key, { headers: { 'content-type': 'application/json' }, body })
      const first = await postBody('{"a":1}')
      const reused = await postBody('{"a":2}')
      checkStatus(reused, 422)
      const message = `Request with key "${key}" is being reused for a different body`
      check(messageOf(reused) === message, 'the 422 has an unexpected message', reused)
      checkReplay(await postBody('{"a":1}'), first, key)
    }
  },
  {
    id: 'idempotency.bounds',
    rule:
      'A key of 255 characters is accepted, and a key of 256 characters is rejected with 400. ' +
      'A 401 response is not stored.',
    basis: behavior('the maximum length of a key, and which responses are stored'),
    async run(service) {
      const { id, key } = await unusedKey(service)
      const longest = key.repeat(7).slice(0, 255)
      const tooLong = key.repeat(7).slice(0, 256)
      const invalidKey = { authorization: `ApiKey ${UNKNOWN_KEY}` }
      checkStatus(await post(service, id, longest, invalidKey), 401)
      checkStatus(await post(service, id, longest), 200)
      checkStatus(await post(service, id, tooLong), 400)
    }
  },
  {
    id: 'idempotency.in-use',
    rule:
      'If several requests with the same key arrive at the same time, only one runs the ' +
      'operation. The other requests get a replay, or a 409 with `Retry-After`.',
    basis: REPEATED_REQUEST,
    async run(service) {
      const { id, key } = await unusedKey(service)
      const requests = Array.from({ length: CONCURRENT_REQUESTS }, () => post(service, id, key))
      const responses = await Promise.all(requests)
      const executed = responses.filter(
        ({ status, headers }) => status !== 409 && !headers.has('idempotency-replay')
      )
      const counts = `${executed.length} of ${CONCURRENT_REQUESTS}`
      check(executed.length === 1, `${counts} requests with the same key ran the operation`)
      for (const response of responses) checkConcurrent(response, executed[0]?.text)
    }
  }
]

/**
 * Returns the id of an integration, and an unused idempotency key. The key contains a lower-case
 * letter, so `key.toUpperCase()` is a different key.
 */
async function unusedKey({ integrations }: ServiceUnderTest): Promise<{ id: string; key: string }> {
  const { _id } = await integrations.one()
  return { id: _id, key: `k-${randomUUID()}` }
}

function post(
  { integrations }: ServiceUnderTest,
  id: string,
  key: string | undefined,
  options: RequestOptions = {}
): Promise<TargetResponse> {
  const keyHeader = key !== undefined && { 'idempotency-key': key }
  return integrations.setPrimary(id, { ...options, headers: { ...options.headers, ...keyHeader } })
}

function checkNotReplayed(response: TargetResponse, key: string | null): void {
  const { headers } = response
  const hasKey = headers.get('idempotency-key') === key
  check(hasKey, "the response's Idempotency-Key differs from the request's", response)
  const isReplay = headers.has('idempotency-replay')
  check(!isReplay, 'a response that is not a replay has the header Idempotency-Replay', response)
}

function checkReplay(response: TargetResponse, first: TargetResponse, key: string): void {
  const { status, text, headers } = response
  const statuses = `status ${status} when the key is repeated, but ${first.status} the first time`
  check(status === first.status, statuses, response)
  check(text === first.text, 'the body differs when the key is repeated', response)
  const isMarked = headers.get('idempotency-replay') === 'true'
  check(isMarked, 'the replay has no header Idempotency-Replay: true', response)
  const hasKey = headers.get('idempotency-key') === key
  check(hasKey, "the replay's Idempotency-Key differs from the request's", response)
  const hasType = headers.get('content-type') === first.headers.get('content-type')
  check(hasType, 'a replay has a different content-type than the first response', response)
}

function checkConcurrent(response: TargetResponse, firstText: string | undefined): void {
  const { status, headers, text } = response
  if (status === 409) {
    const retryAfter = headers.get('retry-after') ?? ''
    check(/^\d+$/.test(retryAfter), 'a 409 has no Retry-After header in whole seconds', response)
    return
  }
  check(text === firstText, 'a replay has a different body than the first response', response)
}
