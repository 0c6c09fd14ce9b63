import { countOf } from '../../../domain/count.js'
import { Integration } from '../../../integrations/schemas.js'
import { setPrimaryPath } from '../../paths.js'
import { check, checkSame, type RequestOptions, readRecord } from '../../response-checks.js'
import type { ServiceUnderTest } from '../../service-under-test.js'
import { checkSetPrimary } from '../../tested-integrations.js'
import { apiReference, behavior, type ConformanceCase } from '../case.js'

/** The number of set-primary requests that `primary.concurrent` sends at the same time. */
const CONCURRENT_REQUESTS = 8

export const PRIMARY_CASES: readonly ConformanceCase[] = [
  {
    id: 'primary.result',
    rule:
      'Set-primary returns 200 and the requested integration, even if it was inactive. The ' +
      'returned integration is primary and not deleted. A GET for the same path is rejected.',
    basis: apiReference(
      'set-primary: Response: an Integration object, with `primary` reflecting the result.'
    ),
    async run({ integrations, send }) {
      for (const { id } of await integrations.all()) {
        const read = await send(setPrimaryPath(id))
        check(read.status >= 400, `status ${read.status} for a GET, expected an error`, read)
        const response = await integrations.setPrimary(id)
        checkSetPrimary(response)
        if (response.status !== 200) continue
        const { _id, identifier, primary, deleted, deletedAt, deletedBy } =
          readRecord<Integration>(response)
        const isNamed = _id === id || identifier === id
        check(isNamed, 'the response does not contain the requested integration', response)
        check(primary === true, `primary is ${primary}, expected true`, response)
        const exists = deleted === false && deletedAt === undefined && deletedBy === undefined
        check(exists, 'deleted is not false, or deletedAt or deletedBy is set', response)
      }
    }
  },
  {
    id: 'primary.activates',
    rule: 'An integration that becomes primary is activated and loses its conditions.',
    basis: behavior('the changes that set-primary makes'),
    async run(service) {
      const usable = await service.integrations.usable()
      for (const { _id, channel } of usable) {
        const other = usable.find(
          (candidate) => candidate.channel === channel && candidate._id !== _id
        )
        // Skip a channel's only integration. It is already primary, so the target may return it
        // unchanged.
        if (!other) continue
        await setPrimary(service, other._id)
        const { active, conditions = [] } = await setPrimary(service, _id)
        const isActivated = active === true && conditions.length === 0
        const problem = `active is ${active} with ${countOf(conditions.length, 'condition')}`
        check(isActivated, `${problem}, expected true without conditions`)
      }
    }
  },
  {
    id: 'primary.again',
    rule:
      'If set-primary is repeated, it returns the same integration without changes, even if ' +
      'another integration was primary in the meantime.',
    basis: apiReference(
      'Effect: sets the integration as primary for its channel in the current environment.'
    ),
    async run(service) {
      const [one, two] = await service.integrations.pair()
      const first = await setPrimary(service, one._id)
      checkSame(await setPrimary(service, one._id), first, 'two responses for the same integration')
      const other = await setPrimary(service, two._id)
      const what = 'the responses before and after set-primary of another integration'
      checkSame(await setPrimary(service, one._id), first, what)
      checkSame(await setPrimary(service, two._id), other, what)
    }
  },
  {
    id: 'primary.one',
    rule:
      'After set-primary, the integration is the only primary integration of its channel. The ' +
      "channel's other integrations change only in `primary`. Integrations of other channels do " +
      'not change.',
    basis: apiReference(
      'One integration per channel can be primary. It becomes the primary integration for its ' +
        'channel'
    ),
    async run(service) {
      for (const { _id, channel } of await service.integrations.usable()) {
        const before = await listIntegrations(service)
        await setPrimary(service, _id)
        for (const after of await listIntegrations(service)) {
          const former = before.find((integration) => integration._id === after._id)
          // Don't use `before` here: an earlier set-primary may have left a wrong primary.
          const primaryId =
            after.channel === channel ? _id : service.integrations.expectedPrimary(after.channel)
          const unchanged = after._id === _id ? after : former
          const expected = { ...unchanged, primary: after._id === primaryId }
          checkSame(after, expected, `integration ${after._id} after set-primary of ${_id}`)
        }
      }
    }
  },
  {
    id: 'primary.body',
    rule: 'The request body is ignored. It can be `{}`, a form, text or missing.',
    basis: behavior('the request body of set-primary'),
    async run(service) {
      const { _id } = await service.integrations.one()
      const expected = await setPrimary(service, _id)
      const form = 'application/x-www-form-urlencoded'
      const bodies = { '{}': 'application/json', 'primary=false': form, none: 'text/plain' }
      for (const [body, type] of Object.entries(bodies)) {
        const integration = await setPrimary(service, _id, {
          headers: { 'content-type': type },
          body
        })
        checkSame(
          integration,
          expected,
          `the responses with a body of type ${type} and without a body`
        )
      }
    }
  },
  {
    id: 'primary.concurrent',
    rule:
      'After concurrent set-primary requests for two integrations of a channel, exactly one ' +
      'integration of the channel is primary. Each response contains the requested integration.',
    basis: apiReference('One integration per channel can be primary in an environment.'),
    async run(service) {
      const [one, two] = await service.integrations.pair()
      const ids = Array.from({ length: CONCURRENT_REQUESTS }, (_, index) =>
        index % 2 === 0 ? one._id : two._id
      )
      const integrations = await Promise.all(ids.map((id) => setPrimary(service, id)))
      for (const [index, { _id, primary }] of integrations.entries()) {
        const isRight = _id === ids[index] && primary === true
        check(isRight, `set-primary of ${ids[index]} returns ${_id}, primary ${primary}`)
      }
      const listed = await service.integrations.list().catch(() => [])
      const primaries = listed.filter(({ primary, channel }) => primary && channel === one.channel)
      const hasOne = listed.length === 0 || primaries.length === 1
      const problem = `the channel has ${primaries.length} primary integrations, expected 1`
      check(hasOne, problem)
    }
  }
]

/** Makes an integration primary and returns it, with only the fields in the API reference. */
export async function setPrimary(
  { integrations }: ServiceUnderTest,
  id: string,
  options?: RequestOptions
): Promise<Integration> {
  return documentedFields(readRecord<Integration>(await integrations.setPrimary(id, options)))
}

export const listIntegrations = async ({ integrations }: ServiceUnderTest) =>
  (await integrations.list()).map(documentedFields)

/**
 * Returns the integration with only the fields in the API reference. Other fields are left out,
 * because some of them change, such as `updatedAt`.
 */
export function documentedFields(integration: Integration): Integration {
  const fields = Object.entries(integration).filter(([name]) => name in Integration.properties)
  return Object.fromEntries(fields) as Integration
}
