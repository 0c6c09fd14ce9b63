import type { Seed, SeedEnvironment } from '../../src/seeds/format.js'

/** An environment with every kind of record. The records refer to each other. */
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

/** Returns a seed of these environments. An environment without a name gets the name Shop. */
export function seedOf(...environments: Partial<SeedEnvironment>[]): Seed {
  return { environments: environments.map((environment) => ({ name: 'Shop', ...environment })) }
}

/** Returns a JSON seed of one environment. The fields can be invalid. */
export const shopJson = (fields: object): string => JSON.stringify(seedOf(fields))
