import './integrations.css'
import { useState } from 'preact/hooks'
import type { Integration, NewIntegration } from '../../../client/index.js'
import { Chip } from '../../parts/chip.js'
import { useResource } from '../../parts/resource.js'
import { addressOf, go } from '../../shell/router.js'
import { useSession } from '../../shell/session.js'
import { useAct, useService } from '../acts.js'
import { CHANNELS, fieldsOf, isFound, RecordPane, RecordsView } from '../records.js'
import type { ViewProps } from '../view.js'

/** What the server shows always has an id. */
type Listed = Integration & { _id: string }

/** The heading of a channel, or an integration of it. */
type Item = { channel: string; primary: Listed | undefined; own?: Listed }

/** The integrations by channel, the primary one as a switch; `#/integrations/<identifier>` opens one. */
export function IntegrationsView({ route }: ViewProps) {
  const { env, version } = useSession()
  const resource = useResource(() => env.integrations.list(), [env, version])
  const all = resource.value ?? []
  const isIn = isFound(route)
  const items = CHANNELS.flatMap((channel): Item[] => {
    const those = all.filter((each) => each.channel === channel)
    const primary = those.find((each) => each.primary && !each.deleted)
    const found = those.filter(({ name, identifier, providerId }) => isIn(name, identifier, providerId))
    return found.length === 0 ? [] : [{ channel, primary }, ...found.map((own) => ({ channel, primary, own }))]
  })
  return (
    <RecordsView
      title="Integrations"
      route={route}
      search={{ placeholder: 'name, identifier, provider' }}
      resource={resource}
      label="Integrations by channel"
      items={items}
      pathOf={({ own }) => own && [own.identifier]}
      rowOf={rowOf}
      hasNotes
      open={items.find(({ own }) => own && [own.identifier, own._id].includes(route.rest[0] ?? ''))}
      pane={({ own }, back) => own && <IntegrationPane key={own._id} integration={own} back={back} />}
      reason="Add one, or load a seed that has some."
      add={{
        title: 'Add an integration',
        value: { channel: 'email', providerId: 'sendgrid', name: 'Another', credentials: {} },
        // The server checks it.
        submit: async (fields) => (await env.integrations.add(fields as NewIntegration)).identifier
      }}
    />
  )
}

function rowOf({ channel, primary, own }: Item) {
  if (!own) {
    const none = <Chip tone={/email|sms/.test(channel) ? 'warn' : undefined}>no primary</Chip>
    return { children: [channel, !primary && none] }
  }
  const { name, identifier, providerId, active, deleted } = own
  const tone = deleted ? 'bad' : active ? 'good' : 'warn'
  return {
    tone,
    note: <bdi>{`${providerId} · ${identifier}`}</bdi>,
    end: tone !== 'good' && <Chip tone={tone}>{deleted ? 'deleted' : 'not active'}</Chip>,
    children: <bdi>{name}</bdi>,
    over: <PrimarySwitch own={own} primary={primary} />
  } as const
}

/** Whether an integration is the primary one of its channel, as the server says it; the switch asks for the other. */
function PrimarySwitch({ own, primary }: { own: Listed; primary: Listed | undefined }) {
  const { env } = useSession()
  const ask = useService()
  const act = useAct()
  const { _id, name, channel, deleted } = own
  const make = (one: Listed) => ask('POST', `/v1/integrations/${encodeURIComponent(one._id)}/set-primary`)
  const unmake = () => env.integrations.change(_id, { primary: false })
  const toggle = (event: Event) => {
    event.preventDefault()
    if (own.primary) return act(unmake, `${channel} has no primary now`, () => make(own))
    const done = `${name} is primary for ${channel}${primary ? `, in place of ${primary.name}` : ''}`
    return act<unknown>(
      () => make(own),
      done,
      () => (primary ? make(primary) : unmake())
    )
  }
  return (
    <input
      type="checkbox"
      role="switch"
      class="switch"
      aria-label={`${name} is primary for ${channel}`}
      checked={own === primary}
      disabled={deleted}
      onClick={toggle}
    />
  )
}

/** One integration. Its credentials are hidden until one asks for them; what is hidden is not edited. */
function IntegrationPane({ integration, back }: { integration: Listed; back: string }) {
  const { env } = useSession()
  const act = useAct()
  const [isWhole, setWhole] = useState(false)
  const { _id, name, channel, identifier } = integration
  const whole = fieldsOf(integration)
  const { credentials, configurations, ...open } = whole
  const fields = isWhole ? whole : open
  const remove = () => env.integrations.remove(_id).then(() => go(back))
  const save = async (changes: object) => {
    const saved = await env.integrations.change(_id, changes)
    // It may have another address now.
    go(addressOf(['integrations', saved.identifier]), { replace: true })
  }
  return (
    <RecordPane
      noun="integration"
      title={name}
      facts={[channel, identifier]}
      back={back}
      actions={[
        { name: isWhole ? 'Hide credentials' : 'Show credentials', run: () => setWhole(!isWhole) },
        {
          name: 'Delete',
          isDanger: true,
          run: () => act(remove, `Deleted ${name}`, () => env.integrations.add(whole as NewIntegration))
        }
      ]}
      json={fields}
      fields={fields}
      save={save}
    />
  )
}
