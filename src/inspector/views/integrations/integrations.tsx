import './integrations.css'
import { useState } from 'preact/hooks'
import type { Integration, NewIntegration } from '../../../client/index.js'
import { CHANNELS } from '../../parts/channels.js'
import { Chip } from '../../parts/chip.js'
import { useResource } from '../../parts/resource.js'
import { addressOf, go, type Route } from '../../shell/router.js'
import { useSession } from '../../shell/session.js'
import { useAct, useService } from '../acts.js'
import { fieldsOf, RecordPane } from '../record.js'
import { isFound, RecordsView } from '../records.js'

/** What the server shows always has an id. */
type Listed = Integration & { _id: string }

/** The heading of a channel, or an integration of it. */
type Item = { channel: string; primary: Listed | undefined; own?: Listed }

/** The integrations by channel, the primary one as a switch; `#/integrations/<identifier>` opens one. */
export function IntegrationsView({ route }: { route: Route }) {
  const { env, version } = useSession()
  const ask = useService()
  const act = useAct()
  const resource = useResource(() => env.integrations.list(), [env, version])
  const all = resource.value ?? []
  const isIn = isFound(route)
  const items = CHANNELS.flatMap((channel): Item[] => {
    const those = all.filter((each) => each.channel === channel)
    const primary = those.find((each) => each.primary && !each.deleted)
    const found = those.filter(({ name, identifier, providerId }) => isIn(name, identifier, providerId))
    return found.length === 0 ? [] : [{ channel, primary }, ...found.map((own) => ({ channel, primary, own }))]
  })
  const make = ({ _id }: Listed) => ask('POST', `/v1/integrations/${encodeURIComponent(_id)}/set-primary`)
  const toggle = (own: Listed, former: Listed | undefined) => {
    const { _id, name, channel } = own
    const unmake = () => env.integrations.change(_id, { primary: false })
    if (own.primary) return act(unmake, `${channel} has no primary now`, () => make(own))
    const done = `${name} is primary for ${channel}${former ? `, in place of ${former.name}` : ''}`
    const undo = async () => (former ? make(former) : unmake())
    return act(() => make(own), done, undo)
  }
  const rowOf = ({ channel, primary, own }: Item) => {
    const none = <Chip tone={/email|sms/.test(channel) ? 'warn' : undefined}>no primary</Chip>
    if (!own) return { children: [channel, !primary && none] }
    const { name, identifier, providerId, active, deleted } = own
    const tone = deleted ? 'bad' : active ? 'good' : 'warn'
    return {
      tone,
      note: <bdi>{`${providerId} · ${identifier}`}</bdi>,
      end: tone !== 'good' && <Chip tone={tone}>{deleted ? 'deleted' : 'not active'}</Chip>,
      children: <bdi>{name}</bdi>,
      over: (
        <input
          type="checkbox"
          role="switch"
          class="switch"
          aria-label={`${name} is primary for ${channel}`}
          checked={own === primary}
          disabled={deleted}
          onClick={(event) => {
            // It is what the server says it is.
            event.preventDefault()
            return toggle(own, primary)
          }}
        />
      )
    } as const
  }
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
  const putBack = () => env.integrations.add(whole as NewIntegration)
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
        { name: 'Delete', isDanger: true, run: () => act(remove, `Deleted ${name}`, putBack) }
      ]}
      json={fields}
      fields={fields}
      save={save}
    />
  )
}
