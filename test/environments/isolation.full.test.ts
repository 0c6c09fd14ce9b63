import { describe, expect, test } from 'vitest'
import { DATASET_KINDS } from '../../src/domain/enums.js'
import { encodeBase62 } from '../../src/domain/ids.js'
import { type TestMock, type TestRequest, useMock } from '../support/mock.js'
import { allRows } from '../support/rows.js'

/**
 * `foo` and `bar` share an organization; `baz` has its own. The names have equal lengths, so that
 * the responses have equal lengths too.
 */
const ORGANIZATIONS = { foo: 'Acme', bar: 'Acme', baz: 'Other' } as const
type Name = keyof typeof ORGANIZATIONS
const NAMES = Object.keys(ORGANIZATIONS) as Name[]
/** No environment has this name, and no record's name or id is derived from it. */
const MISSING = 'qux'

const PROFILES = {
  document: { foo: 'document', bar: 'document', baz: 'document' },
  live: { foo: 'live', bar: 'live', baz: 'live' },
  mixed: { foo: 'live', bar: 'document', baz: 'live' }
} as const
type Profiles = (typeof PROFILES)[keyof typeof PROFILES]

/** Ids that all three environments use, for records with different contents. */
const SHARED = {
  integration: '66f1c2a47c9b1a0012ad0001',
  workflow: '67a0f1c03a1e4f0013cf0001',
  step: '67a0f1c03a1e4f0013cf0002',
  subscriber: '66e0b7d17c9b1a0012ac0001',
  message: '67b45c0f3a1e4f0013d0a001'
}

/**
 * Returns the ids of records that only this environment has. The ids of two environments differ
 * only in their last six digits.
 */
function idsOf(name: string) {
  const tail = Buffer.from(name).toString('hex')
  return {
    integration: `66f1c2a47c9b1a0012${tail}`,
    deletedIntegration: `66f1c2a47c9b1a0013${tail}`,
    workflow: `67a0f1c03a1e4f0014${tail}`,
    step: `67a0f1c03a1e4f0015${tail}`
  }
}

const CHANNELS = { foo: 'sms', bar: 'push', baz: 'in_app' } as const
/** No message has this channel. */
const UNUSED_CHANNEL = 'chat'

function seedEnvironment(name: Name, profile: string): object {
  const { integration, deletedIntegration } = idsOf(name)
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
    workflows: seedWorkflows(name),
    messages: seedMessages(name)
  }
}

function seedWorkflows(name: Name): object[] {
  const { workflow, step } = idsOf(name)
  const label = `label-${name}`
  return [
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
  ]
}

function seedMessages(name: Name): object[] {
  const label = `label-${name}`
  return [
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
    // This message's subscriber exists only in the message, not in `subscribers`.
    {
      channel: 'email',
      subscriber: { subscriberId: `${name}-guest` },
      transactionId: 'shared-txn',
      content: label
    }
  ]
}

const NOW = Date.UTC(2026, 1, 18, 10)

interface Request extends Omit<TestRequest, 'key'> {
  path: string
}

/** A response without the headers that always differ, such as `date`. */
interface ComparableResponse {
  status: number
  headers: Record<string, string>
  text: string
}

class Environments {
  readonly mock: TestMock

  constructor(mock: TestMock) {
    this.mock = mock
  }

  async send(name: Name, { path, headers, ...call }: Request): Promise<ComparableResponse> {
    const request = { ...call, headers: { 'x-request-id': 'same', ...headers }, key: `${name}-key` }
    const response = await this.mock.call(path, request)
    const {
      date,
      connection,
      'keep-alive': keepAlive,
      ...comparable
    } = Object.fromEntries(response.headers)
    return { status: response.status, headers: comparable, text: response.text }
  }

  /** Returns the rows, from all tables, that belong to the environments with these names. */
  rowsOf(names: readonly Name[]): Record<string, unknown[]> {
    const {
      environments: all = [],
      datasets: _datasets,
      __drizzle_migrations,
      sqlite_sequence,
      ...tables
    } = allRows(this.mock.db.client)
    const environments = all.filter(({ name }) => names.includes(name as Name))
    const keys = new Set(environments.map(({ key }) => key))
    const datasets = new Set(environments.flatMap((row) => DATASET_KINDS.map((kind) => row[kind])))
    const belongs = ({ environment, dataset }: Record<string, unknown>) =>
      keys.has(environment) || datasets.has(dataset)
    const rows = Object.entries(tables).map(([table, rows]) => [table, rows.filter(belongs)])
    return { environments, ...Object.fromEntries(rows) }
  }
}

async function useEnvironments(profiles: Profiles): Promise<Environments> {
  const environments = NAMES.map((name) => seedEnvironment(name, profiles[name]))
  return new Environments(await useMock({ now: NOW, seed: { environments } }))
}

const SUGGESTION = /; did you mean (?:(?!<name>)[^?])*\?/g

/**
 * Replaces a name, and the ids derived from it, with `<name>`. Removes each `did you mean …?` that
 * suggests another name, because the suggestions depend on the spelling of the requested name.
 */
function anonymize(
  name: string,
  { status, headers, text }: ComparableResponse
): ComparableResponse {
  const ids = Object.values(idsOf(name))
  const words = [...ids, ...ids.map((id) => id.toUpperCase()), ...ids.map(encodeBase62), name]
  const anonymous = (value: string) =>
    words
      .reduce((remaining, word) => remaining.replaceAll(word, '<name>'), value)
      .replace(SUGGESTION, '')
  const fields = Object.entries(headers).map(([field, value]) => [field, anonymous(value)])
  return { status, headers: Object.fromEntries(fields), text: anonymous(text) }
}

const setPrimary = (id: string, call: Omit<Request, 'path'> = {}): Request => {
  return { ...call, method: 'POST', path: `/v1/integrations/${id}/set-primary` }
}
const getStep = (workflowId: string, stepId: string): Request => ({
  path: `/v2/workflows/${workflowId}/steps/${stepId}`
})
const list = (query: string): Request => ({ path: `/v1/messages?${query}` })

/** Returns all ways to name a workflow in a request: its `_id`, its identifier and a slug. */
const workflowForms = (id: string, identifier: string) => [
  id,
  identifier,
  `any_wf_${encodeBase62(id)}`
]
const stepForms = (id: string, stepId: string) => [id, stepId, `any_st_${encodeBase62(id)}`]

/**
 * Returns set-primary requests for all integrations that only this environment has, by id and by
 * identifier.
 */
function integrationRequests(name: string): Request[] {
  const { integration, deletedIntegration } = idsOf(name)
  const identifiers = [`${name}-mail`, `${name}-gone`]
  const ids = [integration, integration.toUpperCase(), deletedIntegration, ...identifiers]
  return ids.map((id) => setPrimary(id))
}

/** Returns all step requests in which the workflow or the step exists only in this environment. */
function stepRequests(name: string): Request[] {
  const ids = idsOf(name)
  const ownWorkflow = workflowForms(ids.workflow, `${name}-flow`)
  const ownStep = stepForms(ids.step, `${name}-step`)
  const sharedWorkflow = workflowForms(SHARED.workflow, 'shared-flow')
  const sharedStep = stepForms(SHARED.step, 'shared-step')
  return [
    ...ownWorkflow.flatMap((workflow) =>
      [...ownStep, ...sharedStep].map((step) => getStep(workflow, step))
    ),
    ...sharedWorkflow.flatMap((workflow) => ownStep.map((step) => getStep(workflow, step)))
  ]
}

/** Returns list requests that filter by a value that only this environment has. */
function listRequests(name: string): Request[] {
  const contexts = `contextKeys=tenant:${name}&contextKeys=tenant:shared`
  const filters = [
    `subscriberId=${name}-user`,
    `subscriberId=${name}-guest`,
    `transactionId=${name}-txn`,
    contexts,
    `channel=email&transactionId=${name}-txn&transactionId=shared-txn`,
    `subscriberId=${name}-user&transactionId=${name}-txn&${contexts}`
  ]
  return filters.flatMap((filter) => [list(filter), list(`${filter}&page=1&limit=1`)])
}

/** Returns all read requests for records that exist only in this environment. */
function readRequests(name: string): Request[] {
  const heads = [getStep(`${name}-flow`, 'shared-step'), list(`subscriberId=${name}-user`)]
  return [
    ...stepRequests(name),
    ...listRequests(name),
    ...heads.map((head) => ({ ...head, method: 'HEAD' }))
  ]
}

/**
 * Returns the names of the environments to send requests to. If all environments have the same
 * profile, leaves out `bar`, because it behaves like `foo`.
 */
const actorsIn = (profile: string) =>
  profile === 'mixed' ? NAMES : NAMES.filter((name) => name !== 'bar')

const EVERY_PAIR = Object.entries(PROFILES).flatMap(([profile, profiles]) =>
  actorsIn(profile).flatMap((asker) =>
    NAMES.filter((name) => name !== asker).map((owner) => ({ profile, profiles, asker, owner }))
  )
)

/**
 * Returns whether set-primary reveals to the asker that an integration exists in the owner's
 * environment. It does if the asker has the profile `live` and belongs to the same organization.
 */
function learnsOfIntegrations(profiles: Profiles, asker: Name, owner: Name): boolean {
  return ORGANIZATIONS[asker] === ORGANIZATIONS[owner] && profiles[asker] === 'live'
}

/**
 * Returns whether the two environments share idempotency keys. They do if both have the profile
 * `live` and belong to the same organization.
 */
function sharesKeys(profiles: Profiles, asker: Name, owner: Name): boolean {
  return learnsOfIntegrations(profiles, asker, owner) && profiles[owner] === 'live'
}

/**
 * Removes the hint that another environment has a transaction. Only environments of the same
 * organization get this hint.
 */
function withoutTransactionHint(
  asker: Name,
  owner: Name,
  response: ComparableResponse
): ComparableResponse {
  const reason = response.headers['x-mock-reason']
  if (reason === undefined || ORGANIZATIONS[asker] !== ORGANIZATIONS[owner]) return response
  const hint = '; environment <name> of the same organization has messages that match transactionId'
  const headers = { ...response.headers, 'x-mock-reason': reason.replace(hint, '') }
  return { ...response, headers }
}

function isSetPrimaryOf(owner: Name, { path }: Request): boolean {
  return path.toLowerCase() === setPrimary(idsOf(owner).integration).path
}

describe.each(EVERY_PAIR)('$profile: to $asker', ({ profiles, asker, owner }) => {
  const others = NAMES.filter((name) => name !== asker)

  test(`records of ${owner} look like records that don't exist, and stay unchanged`, async () => {
    const environments = await useEnvironments(profiles)
    const before = environments.rowsOf(NAMES)
    // The owner sends the requests first, so that the test fails if the asker gets the owner's
    // results from a cache.
    for (const request of readRequests(owner)) await environments.send(owner, request)
    const missing = [...integrationRequests(MISSING), ...readRequests(MISSING)]
    const foreign = [...integrationRequests(owner), ...readRequests(owner)]
    for (const [index, request] of foreign.entries()) {
      const response = await environments.send(asker, request)
      expect(response.text).not.toContain(`label-${owner}`)
      if (learnsOfIntegrations(profiles, asker, owner) && isSetPrimaryOf(owner, request)) {
        expect(response.status, request.path).toBe(403)
        continue
      }
      const expected = await environments.send(asker, missing[index] as Request)
      const actual = withoutTransactionHint(asker, owner, anonymize(owner, response))
      expect(actual, request.path).toEqual(anonymize(MISSING, expected))
    }
    expect(environments.rowsOf(NAMES)).toEqual(before)
  })

  test(`a channel that only ${owner} uses looks like an unused channel`, async () => {
    const environments = await useEnvironments(profiles)
    const unused = await environments.send(asker, list(`channel=${UNUSED_CHANNEL}`))
    const response = await environments.send(asker, list(`channel=${CHANNELS[owner]}`))
    expect(response).toEqual(unused)
  })

  const withKey = (key: string) =>
    setPrimary(SHARED.integration, { headers: { 'idempotency-key': key } })

  /**
   * As the owner, sends a request with the idempotency key `<owner>-1` and returns its response.
   * Marks the owner's key `<owner>-2` as in use by a running request.
   */
  async function useKeys(environments: Environments): Promise<ComparableResponse> {
    const { services } = environments.mock
    const response = await environments.send(owner, withKey(`${owner}-1`))
    services.idempotency.begin(services.environments.find(owner), `${owner}-2`)
    return response
  }

  if (sharesKeys(profiles, asker, owner)) {
    test(`${asker} and ${owner} share their idempotency keys`, async () => {
      const environments = await useEnvironments(profiles)
      const stored = await useKeys(environments)
      const before = environments.rowsOf(others)
      const replay = await environments.send(asker, withKey(`${owner}-1`))
      expect(replay).toEqual({ ...stored, headers: { ...stored.headers, ...REPLAY } })
      const reused = { ...withKey(`${owner}-1`), body: 'another' }
      expect((await environments.send(asker, reused)).status).toBe(422)
      expect((await environments.send(asker, withKey(`${owner}-2`))).status).toBe(409)
      expect(environments.rowsOf(others)).toEqual(before)
    })
  } else {
    test(`idempotency keys of ${owner} look like unused keys`, async () => {
      const environments = await useEnvironments(profiles)
      await useKeys(environments)
      const before = environments.rowsOf(others)
      for (const number of [1, 2]) {
        const response = await environments.send(asker, withKey(`${owner}-${number}`))
        const unused = await environments.send(asker, withKey(`${MISSING}-${number}`))
        expect(anonymize(owner, response)).toEqual(anonymize(MISSING, unused))
        expect(response.text).toContain(`"name":"label-${asker}"`)
      }
      expect(environments.rowsOf(others)).toEqual(before)
    })
  }

  test(`a rejection and its replay don't reveal that ${owner} has the id`, async () => {
    const environments = await useEnvironments(profiles)
    const before = environments.rowsOf(others)
    const rejected = (name: string) =>
      setPrimary(idsOf(name).deletedIntegration, { headers: { 'idempotency-key': `${name}-3` } })
    for (const _attempt of ['first', 'replay']) {
      const response = await environments.send(asker, rejected(owner))
      const expected = await environments.send(asker, rejected(MISSING))
      expect(anonymize(owner, response)).toEqual(anonymize(MISSING, expected))
    }
    expect(environments.rowsOf(others)).toEqual(before)
  })
})

const TIME = new Date(NOW).toISOString()
const REPLAY = {
  'idempotency-replay': 'true',
  'x-mock-reason': `replay of the response that was sent for this idempotency-key at ${TIME}`
}

/** Returns requests for the records in `SHARED`, whose ids all environments use. */
function sharedRequests(profile: string): Request[] {
  const identifiers = profile === 'live' ? [] : ['shared-mail', 'same-name']
  const integrations = [SHARED.integration, ...identifiers].flatMap((id) => [
    setPrimary(id),
    setPrimary(id, { headers: { 'idempotency-key': `of-${id}` } })
  ])
  const steps = workflowForms(SHARED.workflow, 'shared-flow').flatMap((workflow) =>
    stepForms(SHARED.step, 'shared-step').map((step) => getStep(workflow, step))
  )
  const filters = [
    '',
    'subscriberId=shared-user',
    'transactionId=shared-txn',
    'contextKeys=tenant:shared',
    'channel=email'
  ]
  return [...integrations, ...steps, ...filters.map(list)]
}

const EVERY_ACTOR = Object.entries(PROFILES).flatMap(([profile, profiles]) =>
  actorsIn(profile).map((name) => [profile, name, profiles] as const)
)

test.each(EVERY_ACTOR)(
  '%s: %s gets its own records, even if other environments use the same ids',
  async (_profile, name, profiles) => {
    const environments = await useEnvironments(profiles)
    const others = NAMES.filter((other) => other !== name)
    const before = environments.rowsOf(others)
    for (const request of sharedRequests(profiles[name])) {
      const { status, text } = await environments.send(name, request)
      expect(status, request.path).toBe(200)
      const labels = new Set(text.match(/label-[a-z]{3}/g))
      expect(labels, request.path).toEqual(new Set([`label-${name}`]))
    }
    expect(environments.rowsOf(others)).toEqual(before)
  }
)
