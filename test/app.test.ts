import { expect, test } from 'vitest'
import { givenMock } from './support/mock.js'

const SEED = {
  environments: [
    {
      name: 'Shop',
      integrations: [
        { identifier: 'sendgrid', providerId: 'sendgrid', channel: 'email', primary: true },
        { identifier: 'mailgun', providerId: 'mailgun', channel: 'email', active: false }
      ],
      subscribers: [{ subscriberId: 'ada', email: 'ada@example.com' }],
      workflows: [{ identifier: 'shipped', steps: [{ type: 'email' }] }],
      messages: [{ channel: 'email', subscriberId: 'ada', workflow: 'shipped' }]
    }
  ]
}

test('the three operations answer from the seed, and what they change stays changed', async () => {
  const mock = await givenMock({ seed: SEED })

  const promoted = await mock.post('/v1/integrations/mailgun/set-primary')
  expect(promoted).toMatchObject({ status: 200, json: { identifier: 'mailgun', primary: true, active: true } })
  expect((await mock.post('/v1/integrations/mailgun/set-primary')).text).toBe(promoted.text)

  const page = await mock.get('/v1/messages')
  expect(page.json).toMatchObject({ totalCount: 1, data: [{ email: 'ada@example.com', providerId: 'sendgrid' }] })

  const step = await mock.get('/v2/workflows/shipped/steps/email-step')
  expect(step.json).toMatchObject({ stepId: 'email-step', workflowId: 'shipped', type: 'email' })
})

test('an answer that is not in the published document fails the run', async () => {
  const mock = await givenMock({ seed: SEED })
  mock.db.client.exec(`UPDATE messages SET document = json_set(document, '$.extra', 1)`)
  await expect(mock.get('/v1/messages')).rejects.toThrow('must NOT have additional properties')
  mock.db.client.exec(`UPDATE messages SET document = json_set(json_remove(document, '$.extra'), '$.status', 'lost')`)
  await expect(mock.get('/v1/messages')).rejects.toThrow('must be equal to one of the allowed values')
})
