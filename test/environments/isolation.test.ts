import { describe, expect, test } from 'vitest'
import { DATASET_KINDS } from '../../src/domain/enums.js'
import { encodeBase62 } from '../../src/domain/ids.js'
import { type TestMock, type TestRequest, type TestResponse, useMock } from '../support/mock.js'
import { allRows } from '../support/rows.js'

/** `foo` and `bar` are of one organization, `baz` is of another. Of one length, as everything named after them. */
const ORGANIZATIONS = { foo: 'Acme', bar: 'Acme', baz: 'Other' } as const
type Name = keyof typeof ORGANIZATIONS
const NAMES = Object.keys(ORGANIZATIONS) as Name[]
/** Named like an environment, but there is none: what is named after it exists nowhere. */
const NOWHERE = 'qux'

const PROFILES = {
  document: { foo: 'document', bar: 'document', baz: 'document' },
  live: { foo: 'live', bar: 'live', baz: 'live' },
  mixed: { foo: 'live', bar: 'document', baz: 'live' }
} as const
type Profiles = (typeof PROFILES)[keyof typeof PROFILES]

/** What all three environments have, with the same ids and distinct contents. */
const SHARED = {
  integration: '66f1c2a47c9b1a0012ad0001',
  workflow: '67a0f1c03a1e4f0013cf0001',
  step: '67a0f1c03a1e4f0013cf0002',
  subscriber: '66e0b7d17c9b1a0012ac0001',
  message: '67b45c0f3a1e4f0013d0a001'
}

/** Ids of what only the environment of this name has. Each differs from those of the others in a few letters. */
function only(name: string) {
  const tail = Buffer.from(name).toString('hex')
  return {
    integration: `66f1c2a47c9b1a0012${tail}`,
    deletedIntegration: `66f1c2a47c9b1a0013${tail}`,
    workflow: `67a0f1c03a1e4f0014${tail}`,
    step: `67a0f1c03a1e4f0015${tail}`
  }
}

const CHANNELS = { foo: 'sms', bar: 'push', baz: 'in_app' } as const
/** The channel that no message is of. */
const UNUSED_CHANNEL = 'chat'

function environment(name: Name, profile: string): object {
  const { integration, deletedIntegration, workflow, step } = only(name)
  const label = `label-${name}`
  const mail = { channel: 'email', providerId: 'ses', name: label, credentials: { apiKey: label } }
  return {
    name,
    organization: ORGANIZATIONS[name],
    apiKeys: [`${name}-key`],
    profile,
    integrations: [
      { ...mail, _id: SHARED.integration, identifier: 'shared-mail' },
      { ...mail, identifier: 'same-name' },
      { ...mail, _id: integration, identifier: `${name}-mail`, primary: true },
      { ...mail, _id: deletedIntegration, identifier: `${name}-gone`, deleted: true }
    ],
    subscribers: [
      { _id: SHARED.subscriber, subscriberId: 'shared-user', firstName: label },
      { subscriberId: `${name}-user`, firstName: label }
    ],
    workflows: [
      {
        _id: SHARED.workflow,
        identifier: 'shared-flow',
        steps: [
          { _id: SHARED.step, stepId: 'shared-step', name: label, type: 'email' },
          { _id: step, stepId: `${name}-step`, name: label, type: 'sms' }
        ]
      },
      {
        _id: workflow,
        identifier: `${name}-flow`,
        steps: [{ stepId: 'shared-step', name: label, type: 'email' }]
      }
    ],
    messages: [
      {
        _id: SHARED.message,
        channel: 'email',
        subscriberId: 'shared-user',
        workflow: 'shared-flow',
        transactionId: 'shared-txn',
        contextKeys: ['tenant:shared'],
        content: label
      },
      {
        channel: CHANNELS[name],
        subscriberId: `${name}-user`,
        workflow: `${name}-flow`,
        transactionId: `${name}-txn`,
        contextKeys: [`tenant:${name}`, 'tenant:shared'],
        content: label
      },
      // A subscriber that only the message knows.
      {
        channel: 'email',
        subscriber: { subscriberId: `${name}-guest` },
        transactionId: 'shared-txn',
        content: label
      }
    ]
  }
}

const NOW = Date.UTC(2026, 1, 18, 10)

interface GivenEnvironments extends TestMock {
  /** The whole answer, but for `date` and what concerns the connection. */
  ask(name: Name, request: Request): Promise<Answered>
  /** Every row of every table, by table; or only those of some environments. */
  rows(of?: (name: string) => boolean): Record<string, unknown[]>
}

interface Request extends Omit<TestRequest, 'key'> {
  path: string
}

interface Answered {
  status: number
  headers: Record<string, string>
  text: string
}

async function givenEnvironments(
  profiles: Profiles,
  assumptions: Record<string, string> = {}
): Promise<GivenEnvironments> {
  const environments = NAMES.map((name) => environment(name, profiles[name]))
  const mock = await useMock({ now: NOW, assumptions, seed: { environments } })
  return { ...mock, ask, rows }

  async function ask(name: Name, { path, headers, ...call }: Request): Promise<Answered> {
    const sent = { ...call, headers: { 'x-request-id': 'same', ...headers }, key: `${name}-key` }
    return comparable(await mock.call(path, sent))
  }

  function rows(of: (name: string) => boolean = () => true): Record<string, unknown[]> {
    const {
      environments: all = [],
      datasets: _,
      __drizzle_migrations,
      sqlite_sequence,
      ...tables
    } = allRows(mock.db.client)
    const wanted = all.filter(({ name }) => of(name as string))
    const keys = new Set(wanted.map(({ key }) => key))
    const datasets = new Set(wanted.flatMap((row) => DATASET_KINDS.map((part) => row[part])))
    const belongs = ({ environment, dataset }: Record<string, unknown>) =>
      keys.has(environment) || datasets.has(dataset)
    const theirs = Object.entries(tables).map(([table, rows]) => [table, rows.filter(belongs)])
    return { environments: wanted, ...Object.fromEntries(theirs) }
  }
}

function comparable({ status, headers, text }: TestResponse): Answered {
  const { date, connection, 'keep-alive': keepAlive, ...rest } = Object.fromEntries(headers)
  return { status, headers: rest, text }
}

const SUGGESTION = /; did you mean (?:(?!<name>)[^?])*\?/g

/** The answer with this name, and the ids made of it, made unrecognizable. */
function without(name: string, { status, headers, text }: Answered): Answered {
  const ids = Object.values(only(name)).flatMap((id) => [id, id.toUpperCase(), encodeBase62(id)])
  // A name that was probably meant depends on how near it is; what others have must never be one.
  const blind = (from: string) =>
    [...ids, name]
      .reduce((left, each) => left.replaceAll(each, '<name>'), from)
      .replace(SUGGESTION, '')
  return {
    status,
    headers: Object.fromEntries(
      Object.entries(headers).map(([field, value]) => [field, blind(value)])
    ),
    text: blind(text)
  }
}

const setPrimary = (id: string, call: Omit<Request, 'path'> = {}): Request => {
  return { ...call, method: 'POST', path: `/v1/integrations/${id}/set-primary` }
}
const step = (workflowId: string, stepId: string): Request => ({
  path: `/v2/workflows/${workflowId}/steps/${stepId}`
})
const list = (query: string): Request => ({ path: `/v1/messages?${query}` })

const workflowForms = (id: string, identifier: string) => [
  id,
  identifier,
  `any_wf_${encodeBase62(id)}`
]
const stepForms = (id: string, stepId: string) => [id, stepId, `any_st_${encodeBase62(id)}`]

/** Set-primary of what only the environment of this name has. */
function integrationRequests(name: string): Request[] {
  const { integration, deletedIntegration } = only(name)
  const ids = [
    integration,
    integration.toUpperCase(),
    `${name}-mail`,
    deletedIntegration,
    `${name}-gone`
  ]
  return ids.map((id) => setPrimary(id))
}

/** Every other way to ask for what only the environment of this name has, on every operation and by every form of id. */
function readingRequests(name: string): Request[] {
  const mine = only(name)
  const [itsWorkflow, itsStep] = [
    workflowForms(mine.workflow, `${name}-flow`),
    stepForms(mine.step, `${name}-step`)
  ]
  const sharedWorkflow = workflowForms(SHARED.workflow, 'shared-flow')
  const sharedStep = stepForms(SHARED.step, 'shared-step')
  const filters = [
    `subscriberId=${name}-user`,
    `subscriberId=${name}-guest`,
    `transactionId=${name}-txn`,
    `contextKeys=tenant:${name}&contextKeys=tenant:shared`,
    `channel=email&transactionId=${name}-txn&transactionId=shared-txn`,
    `subscriberId=${name}-user&transactionId=${name}-txn&contextKeys=tenant:${name}&contextKeys=tenant:shared`
  ]
  const gets = [
    ...itsWorkflow.flatMap((workflow) =>
      [...itsStep, ...sharedStep].map((each) => step(workflow, each))
    ),
    ...sharedWorkflow.flatMap((workflow) => itsStep.map((each) => step(workflow, each))),
    ...filters.flatMap((filter) => [list(filter), list(`${filter}&page=1&limit=1`)])
  ]
  const heads = [step(`${name}-flow`, 'shared-step'), list(`subscriberId=${name}-user`)]
  return [...gets, ...heads.map((head) => ({ ...head, method: 'HEAD' }))]
}

/** Where all have one profile, `bar` is as `foo`. */
const actorsIn = (profile: string) =>
  profile === 'mixed' ? NAMES : NAMES.filter((name) => name !== 'bar')

const EVERY_ASKER = Object.entries(PROFILES).flatMap(([profile, profiles]) =>
  actorsIn(profile).map((asker) => ({
    profile,
    profiles,
    asker,
    owners: NAMES.filter((name) => name !== asker)
  }))
)

/** The first of two exceptions: `live` tells that an integration is in another environment of the organization. */
function learnsOfIntegrations(profiles: Profiles, asker: Name, owner: Name): boolean {
  return ORGANIZATIONS[asker] === ORGANIZATIONS[owner] && profiles[asker] === 'live'
}

/** The second: in `live` idempotency keys are those of the organization. */
function sharesKeys(profiles: Profiles, asker: Name, owner: Name): boolean {
  return learnsOfIntegrations(profiles, asker, owner) && profiles[owner] === 'live'
}

/** The third: within the organization, the reason of an empty page tells which environment has a transaction. */
function untold(asker: Name, owner: Name, answer: Answered): Answered {
  const reason = answer.headers['x-mock-reason']
  if (reason === undefined || ORGANIZATIONS[asker] !== ORGANIZATIONS[owner]) return answer
  const told = '; environment <name> of the same organization has it'
  return { ...answer, headers: { ...answer.headers, 'x-mock-reason': reason.replace(told, '') } }
}

describe.each(EVERY_ASKER)('in $profile, to $asker', ({ profiles, asker, owners }) => {
  test('what only others have is as what nobody has, whatever it is asked by, and stays as it is', async () => {
    const given = await givenEnvironments(profiles)
    const before = given.rows()
    const nowhere = [...integrationRequests(NOWHERE), ...readingRequests(NOWHERE)]
    const answersToUnknown = []
    for (const unknown of nowhere)
      answersToUnknown.push(without(NOWHERE, await given.ask(asker, unknown)))
    for (const owner of owners) {
      // First the owner, so that whatever the server remembers of an answer, it remembers.
      for (const request of readingRequests(owner)) await given.ask(owner, request)

      const foreign = [...integrationRequests(owner), ...readingRequests(owner)]
      for (const [index, expected] of answersToUnknown.entries()) {
        const request = foreign[index] as Request
        const answer = await given.ask(asker, request)
        expect(answer.text).not.toContain(`label-${owner}`)
        if (learnsOfIntegrations(profiles, asker, owner) && namesIntegration(owner, request)) {
          expect(answer.status, request.path).toBe(403)
        } else {
          expect(
            untold(asker, owner, without(owner, answer)),
            `${request.method ?? 'GET'} ${request.path}`
          ).toEqual(expected)
        }
      }
      const channel = await given.ask(asker, list(`channel=${CHANNELS[owner]}`))
      expect(channel).toEqual(await given.ask(asker, list(`channel=${UNUSED_CHANNEL}`)))
    }
    expect(given.rows()).toEqual(before)
  })

  test.each(
    owners.map((owner) => [owner, sharesKeys(profiles, asker, owner) ? 'taken' : 'free'] as const)
  )('an idempotency key that %s has used, or is using, is %s', async (owner) => {
    const given = await givenEnvironments(profiles)
    const withKey = (key: string) =>
      setPrimary(SHARED.integration, { headers: { 'idempotency-key': key } })
    const theirs = await given.ask(owner, withKey(`${owner}-1`))
    const ownerInPerson = given.services.environments.findByApiKey(`${owner}-key`)
    if (!ownerInPerson) throw new Error(`there is no ${owner}`)
    given.services.idempotency.begin(ownerInPerson, `${owner}-2`)
    const others = given.rows((name) => name !== asker)

    const used = await given.ask(asker, withKey(`${owner}-1`))
    const inUse = await given.ask(asker, withKey(`${owner}-2`))
    if (sharesKeys(profiles, asker, owner)) {
      expect(used).toEqual({ ...theirs, headers: { ...theirs.headers, ...REPLAY } })
      expect((await given.ask(asker, { ...withKey(`${owner}-1`), body: 'another' })).status).toBe(
        422
      )
      expect(inUse.status).toBe(409)
    } else {
      expect(without(owner, used)).toEqual(
        without(NOWHERE, await given.ask(asker, withKey(`${NOWHERE}-1`)))
      )
      expect(without(owner, inUse)).toEqual(
        without(NOWHERE, await given.ask(asker, withKey(`${NOWHERE}-2`)))
      )
      expect(used.text).toContain(`"name":"label-${asker}"`)
    }
    for (const _attempt of ['refused', 'replayed']) {
      const [answer, expected] = [
        await given.ask(asker, lost(owner)),
        await given.ask(asker, lost(NOWHERE))
      ]
      expect(without(owner, answer)).toEqual(without(NOWHERE, expected))
    }
    expect(given.rows((name) => name !== asker)).toEqual(others)
  })

  function lost(name: string): Request {
    return setPrimary(only(name).deletedIntegration, {
      headers: { 'idempotency-key': `${name}-3` }
    })
  }
})

function namesIntegration(owner: Name, { path }: Request): boolean {
  return path.toLowerCase() === setPrimary(only(owner).integration).path
}

const REPLAY = {
  'idempotency-replay': 'true',
  'x-mock-reason': `replay of the response that was sent for this idempotency-key at ${new Date(NOW).toISOString()}`
}

describe.each(Object.entries(PROFILES))('in %s', (profile, profiles) => {
  test.each(actorsIn(profile))(
    'what %s shares the ids of with others is its own, by every form of id',
    async (name) => {
      const given = await givenEnvironments(profiles)
      const others = given.rows((each) => each !== name)
      const ids =
        profiles[name] === 'live'
          ? [SHARED.integration]
          : [SHARED.integration, 'shared-mail', 'same-name']
      const requests = [
        ...ids.flatMap((id) => [
          setPrimary(id),
          setPrimary(id, { headers: { 'idempotency-key': `of-${id}` } })
        ]),
        ...workflowForms(SHARED.workflow, 'shared-flow').flatMap((workflow) =>
          stepForms(SHARED.step, 'shared-step').map((each) => step(workflow, each))
        ),
        ...[
          '',
          'subscriberId=shared-user',
          'transactionId=shared-txn',
          'contextKeys=tenant:shared',
          'channel=email'
        ].map(list)
      ]
      for (const request of requests) {
        const { status, text } = await given.ask(name, request)
        expect(status, request.path).toBe(200)
        expect(new Set(text.match(/label-[a-z]{3}/g)), request.path).toEqual(
          new Set([`label-${name}`])
        )
      }
      expect(given.rows((each) => each !== name)).toEqual(others)
    }
  )
})
