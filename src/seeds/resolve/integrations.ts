import { slugify } from '../../core/slug.js'
import { Integration } from '../../integrations/schemas.js'
import type { SeedIntegration } from '../format.js'
import { type EnvironmentBuilder, inOrder, type SeedLocation, timesOf, unusedName } from './builder.js'

/** About what the defaults of an integration take, in characters of JSON. */
const DEFAULTS = 200

export function addIntegration(builder: EnvironmentBuilder, seed: SeedIntegration, location: SeedLocation): void {
  const { providerId, channel, name = providerId } = seed
  const { identifier = unusedName(slugify(name) || channel, builder.identifiers) } = seed
  const { _id = builder.derivedId('integration', identifier) } = seed
  const integration = inOrder(Integration, {
    credentials: {},
    active: true,
    deleted: false,
    primary: false,
    ...seed,
    ...builder.owner,
    _id,
    name,
    identifier,
    ...timesOf(seed, ['deletedAt'], location)
  })
  for (const field of ['deletedAt', 'deletedBy'] as const) {
    if (integration[field] !== undefined && !integration.deleted) location.at(field).report('needs deleted: true')
  }
  builder.identifiers.names.add(identifier)
  builder.countAdded(DEFAULTS, location)
  builder.claimNames(['integration', 'identifier', identifier], _id, location)
  if (integration.primary && !integration.deleted) {
    builder.claim(['primary', channel], location.at('primary'), (first) => {
      const isFirst = (each: Integration) => each.channel === channel && each.primary && !each.deleted
      const other = builder.data.integrations.find(isFirst)?.identifier
      return `must be false: ${other} is the primary ${channel} integration already, at ${first}; a channel has at most one`
    })
  }
  builder.data.integrations.push(integration)
}
