import type { Seed, SeedEnvironment } from '../../src/seeds/format.js'

/** An environment with some of each kind of record, which refer to one another. */
export const SHOP = {
  name: 'Shop',
  integrations: [
    { identifier: 'main', providerId: 'ses', channel: 'email', primary: true },
    { identifier: 'other', providerId: 'sendgrid', channel: 'email' }
  ],
  subscribers: [{ subscriberId: 'user-1', firstName: 'One', email: 'one@example.com' }],
  workflows: [
    {
      identifier: 'order',
      steps: [{ stepId: 'mail', type: 'email', controlValues: { subject: 'Hi' } }]
    }
  ],
  messages: [{ channel: 'email', subscriberId: 'user-1', workflow: 'order', subject: 'Hello' }]
} satisfies SeedEnvironment

/** A seed of these environments; one without a name is named Shop. */
export function seedOf(...environments: Partial<SeedEnvironment>[]): Seed {
  return { environments: environments.map((environment) => ({ name: 'Shop', ...environment })) }
}

/** The text of a seed of one environment, as JSON. It may be no seed, so any fields are taken. */
export const shopJson = (fields: object): string => JSON.stringify(seedOf(fields))
