import { useState } from 'preact/hooks'
import type { NewIntegration } from '../../../client/index.js'
import { CHANNELS } from '../../../domain/enums.js'
import { Chip, type Tone } from '../../parts/chip.js'
import { ListRow } from '../../parts/list-row.js'
import { useResource } from '../../parts/resource.js'
import { hrefTo, navigate, type Route } from '../../shell/router.js'
import { useSession } from '../../shell/session.js'
import { editableFields, RecordPane } from '../records/record-pane.js'
import { RecordsView, type RowLink } from '../records/records-view.js'
import { searchMatcher } from '../records/search.js'
import { type Channel, type ListedIntegration, primaryOf, useTogglePrimary } from './primary.js'

/** A row of the list: the heading of a channel, or an integration. */
type Item = Channel | ListedIntegration

/** Lists the integrations by channel. Each integration has a switch that makes it primary. */
export function IntegrationsView({ route }: { route: Route }) {
  const { env, version } = useSession()
  const resource = useResource(() => env.integrations.list(), [env, version])
  const integrations = resource.value ?? []
  const matchesSearch = searchMatcher(route)
  const items = CHANNELS.flatMap((channel): Item[] => {
    const matches = integrations.filter(
      (integration) =>
        integration.channel === channel &&
        matchesSearch(integration.name, integration.identifier, integration.providerId)
    )
    return matches.length === 0 ? [] : [channel, ...matches]
  })
  const rowOf = (item: Item, link: RowLink) =>
    typeof item === 'string' ? (
      <ChannelHeading channel={item} hasPrimary={primaryOf(integrations, item) !== undefined} />
    ) : (
      <IntegrationRow integration={item} integrations={integrations} link={link} />
    )
  const openId = route.rest[0] ?? ''
  return (
    <RecordsView
      route={route}
      placeholder="name, identifier, provider"
      resource={resource}
      label="Integrations by channel"
      items={items}
      pathOf={(item) => (typeof item === 'string' ? undefined : [item.identifier])}
      rowOf={rowOf}
      hasNotes
      open={integrations.find(({ identifier, _id }) => [identifier, _id].includes(openId))}
      pane={(integration, back) => (
        <IntegrationPane key={integration._id} integration={integration} back={back} />
      )}
      add={{
        title: 'Add an integration',
        value: { channel: 'email', providerId: 'sendgrid', name: 'Another', credentials: {} },
        // The fields may be invalid, but the server validates them.
        submit: async (fields) => (await env.integrations.add(fields as NewIntegration)).identifier
      }}
    />
  )
}

function ChannelHeading({ channel, hasPrimary }: { channel: Channel; hasPrimary: boolean }) {
  const needsPrimary = channel === 'email' || channel === 'sms'
  return (
    <div class="group">
      <h2>{channel}</h2>
      {!hasPrimary && <Chip tone={needsPrimary ? 'warn' : undefined}>no primary</Chip>}
      {/* Hidden from screen readers, because each switch's accessible name contains “primary”. */}
      <span class="spread hint" aria-hidden="true">
        Primary
      </span>
    </div>
  )
}

function toneOf({ active, deleted }: ListedIntegration): Tone {
  if (deleted) return 'bad'
  return active ? 'good' : 'warn'
}

interface IntegrationRowProps {
  integration: ListedIntegration
  integrations: readonly ListedIntegration[]
  link: RowLink
}

function IntegrationRow({ integration, integrations, link }: IntegrationRowProps) {
  const { name, channel, identifier, providerId, deleted } = integration
  const togglePrimary = useTogglePrimary()
  const tone = toneOf(integration)
  const onClick = (event: Event) => {
    // Don't move the switch until the server has confirmed the change.
    event.preventDefault()
    togglePrimary(integration, integrations)
  }
  return (
    <div class="line with-switch">
      <ListRow
        {...link}
        tone={tone}
        note={<bdi>{`${providerId} · ${identifier}`}</bdi>}
        end={tone !== 'good' && <Chip tone={tone}>{deleted ? 'deleted' : 'inactive'}</Chip>}
      >
        {name}
      </ListRow>
      <input
        type="checkbox"
        role="switch"
        class="switch"
        aria-label={`${name} is primary for ${channel}`}
        checked={integration.primary && !deleted}
        disabled={deleted}
        title={deleted ? "A deleted integration can't be primary" : undefined}
        onClick={onClick}
      />
    </div>
  )
}

/**
 * The pane of an integration. While the credentials are hidden, they aren't part of the JSON and
 * can't be edited.
 */
function IntegrationPane({ integration, back }: { integration: ListedIntegration; back: string }) {
  const { env } = useSession()
  const [showsCredentials, setShowsCredentials] = useState(false)
  const { _id, name, channel, identifier } = integration
  const allFields = editableFields(integration)
  const { credentials, configurations, ...publicFields } = allFields
  const save = async (changes: object) => {
    const saved = await env.integrations.change(_id, changes)
    // The pane's URL contains the identifier, so a new identifier requires a new URL.
    if (saved.identifier !== identifier) {
      navigate(hrefTo(['integrations', saved.identifier]), { replace: true })
    }
  }
  return (
    <RecordPane
      noun="integration"
      title={name}
      facts={[channel, identifier]}
      back={back}
      actions={[
        {
          name: showsCredentials ? 'Hide credentials' : 'Show credentials',
          run: () => setShowsCredentials(!showsCredentials)
        }
      ]}
      fields={showsCredentials ? allFields : publicFields}
      save={save}
      deletion={{
        remove: () => env.integrations.remove(_id),
        addAgain: () => env.integrations.add(allFields as NewIntegration)
      }}
    />
  )
}
