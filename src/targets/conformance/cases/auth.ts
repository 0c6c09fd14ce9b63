import { checkStatus, jsonIn, setPrimaryPath, stepPath } from '../../answers.js'
import { check } from '../../outcome.js'
import type { Answer } from '../../target.js'
import { type ConformanceCase, contract, settled } from '../case.js'
import { UNKNOWN_KEY } from '../refusals.js'

const HEADER = contract('Every operation requires API key authentication in the request header `Authorization`.')

export const AUTH: ConformanceCase[] = [
  {
    id: 'auth.list',
    tier: 'behaviour',
    rule: 'The list refuses a request without a key with 401.',
    basis: HEADER,
    needs: [],
    async run({ ask }) {
      checkStatus(await ask('/v1/messages', { authorization: null }), 401)
    }
  },
  {
    id: 'auth.step',
    tier: 'behaviour',
    rule: 'The step operation refuses a request without a key with 401.',
    basis: HEADER,
    needs: [],
    async run({ ask, unknownId }) {
      checkStatus(await ask(stepPath(unknownId(), unknownId()), { authorization: null }), 401)
    }
  },
  {
    id: 'auth.set-primary',
    tier: 'behaviour',
    rule: 'Set-primary refuses a request without a key with 401.',
    basis: HEADER,
    needs: [],
    async run({ ask, unknownId }) {
      checkStatus(await ask(setPrimaryPath(unknownId()), { method: 'POST', authorization: null }), 401)
    }
  },
  {
    id: 'auth.unknown-key',
    tier: 'behaviour',
    rule: 'A key that belongs to no environment is refused with 401 `API Key not found`.',
    basis: contract("<API_KEY> is the environment's secret key."),
    needs: [],
    async run({ ask }) {
      checkRefused(await ask('/v1/messages', { authorization: `ApiKey ${UNKNOWN_KEY}` }), 'API Key not found')
    }
  },
  {
    id: 'auth.missing',
    tier: 'behaviour',
    rule: 'The 401 without a header says `Missing authorization header`.',
    basis: settled('Errors: the messages of a 401'),
    needs: [],
    async run({ ask }) {
      checkRefused(await ask('/v1/messages', { authorization: null }), 'Missing authorization header')
    }
  },
  {
    id: 'auth.scheme',
    tier: 'behaviour',
    rule: 'Another scheme is refused with 401 `Invalid authentication scheme: "<word>"`.',
    basis: contract('The header value has the form `ApiKey <API_KEY>`'),
    needs: [],
    async run({ ask }) {
      const answer = await ask('/v1/messages', { authorization: 'Bearer abc' })
      checkRefused(answer, 'Invalid authentication scheme: "Bearer"')
    }
  },
  {
    id: 'auth.no-key',
    tier: 'behaviour',
    rule: 'The scheme without a key is refused with 401 `Unauthorized`.',
    basis: contract('The header value has the form `ApiKey <API_KEY>`'),
    needs: [],
    async run({ ask }) {
      checkRefused(await ask('/v1/messages', { authorization: 'ApiKey' }), 'Unauthorized')
    }
  },
  {
    id: 'auth.challenge',
    tier: 'behaviour',
    rule: 'A 401 has the header `WWW-Authenticate: ApiKey`.',
    basis: settled('Errors: the headers of a 401'),
    needs: [],
    async run({ refusals }) {
      for (const { status, headers, request } of await refusals()) {
        if (status !== 401) continue
        check(
          /^ApiKey\b/.test(headers.get('www-authenticate') ?? ''),
          `${request}: there is no WWW-Authenticate: ApiKey`
        )
      }
    }
  },
  {
    id: 'auth.first',
    tier: 'behaviour',
    rule: 'The key is checked before anything else about the request.',
    basis: settled('Authentication: its order'),
    needs: [],
    async run({ ask }) {
      for (const query of ['page=-1', 'limit=none', 'contextKeys=none&channel=none', 'subscriberId=%zz']) {
        checkStatus(await ask(`/v1/messages?${query}`, { authorization: null }), 401)
      }
    }
  },
  {
    id: 'auth.not-repeated',
    tier: 'behaviour',
    rule: 'A refusal does not repeat the key.',
    basis: settled('Authentication: keys are never echoed'),
    needs: [],
    async run({ ask }) {
      for (const authorization of [`ApiKey ${UNKNOWN_KEY}`, UNKNOWN_KEY]) {
        const { request, text, headers } = await ask('/v1/messages', { authorization })
        const isRepeated = [text, ...headers.values()].some((each) => each.includes(UNKNOWN_KEY))
        check(!isRepeated, `${request}: the answer to an unknown key repeats it`)
      }
    }
  },
  {
    id: 'auth.key-only',
    tier: 'behaviour',
    rule: 'An `idempotency-key` is no authentication.',
    basis: contract('The header `idempotency-key` is not authentication; it is optional.'),
    needs: [],
    async run({ ask }) {
      const headers = { 'idempotency-key': 'conformance' }
      checkStatus(await ask('/v1/messages', { authorization: null, headers }), 401)
    }
  }
]

function checkRefused(answer: Answer, message: string): void {
  checkStatus(answer, 401)
  const body = jsonIn(answer) as { message?: unknown } | null
  check(body?.message === message, `${answer.request}: the message of the 401 is not ${message}`)
}
