import { expect, test } from 'vitest'
import { withVendorNames } from '../../src/core/vendor-names.js'
import { givenMock } from '../support/mock.js'

test('a name with one spelling and an unknown name are left as they are', () => {
  for (const text of ['external', 'slack', '', 'SERVICE-CLOUD', 'service-cloud ', 'toString', '__proto__']) {
    expect(withVendorNames({ origin: text, providerId: text })).toEqual({ origin: text, providerId: text })
  }
})

test('in `live` names of the deployed service stand where the contract has its own; what was stored freely comes back word for word', async () => {
  const free = {
    origin: 'service-cloud',
    providerId: 'service-slack',
    subscriber: { channels: [{ providerId: 'service-slack' }] },
    'service-cloud': ['service-cloud-v1']
  }
  const children = [{ field: 'origin', value: 'service-cloud', operator: 'EQUAL', on: 'payload' }]
  const conditions = [{ isNegated: false, type: 'GROUP', value: 'AND', children }]
  const step = { stepId: 'service-cloud', name: 'service-cloud', type: 'custom', controlValues: free, variables: free }
  const message = { channel: 'chat', subject: 'service-cloud', transactionId: 'service-cloud', payload: free }
  const integration = {
    _id: '66f1c2a47c9b1a0012ad0001',
    identifier: 'service-slack',
    name: 'service-slack',
    channel: 'email',
    primary: true,
    credentials: { title: 'service-slack', tlsOptions: free },
    conditions
  }
  const ada = { subscriberId: 'ada', firstName: 'service-slack', topics: ['service-slack'], data: free }
  const channel = { integrationIdentifier: 'service-slack', credentials: {}, _integrationId: '1' }
  const slack = { providerId: 'service-slack' }
  const shop = {
    name: 'Shop',
    integrations: [{ ...integration, ...slack }],
    subscribers: [{ ...ada, channels: [{ ...channel, ...slack }] }],
    workflows: [{ identifier: 'service-cloud', origin: 'service-cloud-v1', payloadSchema: free, steps: [step] }],
    messages: [{ ...message, ...slack, subscriberId: 'ada' }]
  }
  const mock = await givenMock({
    profile: 'live',
    assumptions: { credentials: 'stored', 'control-values': 'once', 'embedded-subscriber': 'whole' },
    seed: { environments: [shop] }
  })

  const renamed = { providerId: 'novu-slack' }
  const shownStep = (await mock.get('/v2/workflows/service-cloud/steps/service-cloud')).json.data
  expect(shownStep).toMatchObject({ ...step, origin: 'novu-cloud-v1', workflowId: 'service-cloud' })
  const [shownMessage] = (await mock.get('/v1/messages')).json.data
  const subscriber = { ...ada, channels: [{ ...channel, ...renamed }] }
  expect(shownMessage).toMatchObject({ ...message, ...renamed, subscriber })
  const shownIntegration = (await mock.post(`/v1/integrations/${integration._id}/set-primary`)).json.data
  expect(shownIntegration).toMatchObject({ ...integration, ...renamed })
})
