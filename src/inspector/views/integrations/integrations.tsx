import './integrations.css'
import { useState } from 'preact/hooks'
import type { Integration, NewIntegration } from '../../../client/index.js'
import { CHANNELS } from '../../parts/channels.js'
import { Chip } from '../../parts/chip.js'
import { useResource } from '../../parts/resource.js'
import { ROW, ROW_WITH_NOTE, Row } from '../../parts/row.js'
import { addressOf, go } from '../../shell/router.js'
import { useSession } from '../../shell/session.js'
import { useAct, useService } from '../acts.js'
import { fieldsOf, RecordPane } from '../record.js'
import { isFound, RecordsView, type RowPlace } from '../records.js'
import type { ViewProps } from '../view.js'

/** What the server shows always has an id. */
type Listed = Integration & { _id: string }

/** The heading of a channel, or an integration of it. */
type Item = { channel: string; primary: Listed | undefined; own?: Listed }

/** The integrations of the environment by channel, the primary one as a switch; `#/integrations/<identifier>` opens one. */
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
      heightOf={({ own }) => (own ? ROW_WITH_NOTE : ROW)}
      pathOf={({ own }) => own && [own.identifier]}
      row={({ channel, primary, own }, place) =>
        own ? (
          <IntegrationRow integration={own} former={primary} {...place} />
        ) : (
          <h2 class="group">
            {channel} {!primary && <Chip tone={/email|sms/.test(channel) ? 'warn' : undefined}>no primary</Chip>}
          </h2>
        )
      }
      open={items.find(({ own }) => own && [own.identifier, own._id].includes(route.rest[0] ?? ''))}
      pane={({ own }, back) => own && <IntegrationPane key={own._id} integration={own} back={back} />}
      reason="Add one, or load a seed that has some."
      add={{
        title: 'Add an integration',
        value: { channel: 'email', providerId: 'sendgrid', name: 'Another', credentials: {} },
        // The server checks it.
        submit: (fields) => env.integrations.add(fields as NewIntegration)
      }}
    />
  )
}

interface RowProps extends RowPlace {
  integration: Listed
  former: Listed | undefined
}

function IntegrationRow({ integration, former, ...place }: RowProps) {
  const { env } = useSession()
  const ask = useService()
  const act = useAct()
  const { _id, name, identifier, providerId, active, deleted, primary, channel } = integration
  const make = (id: string) => ask('POST', `/v1/integrations/${encodeURIComponent(id)}/set-primary`)
  const unmake = () => env.integrations.change(_id, { primary: false })
  const toggle = (event: Event) => {
    // It is what the server says it is.
    event.preventDefault()
    if (primary) return act(unmake, `${channel} has no primary now`, () => make(_id))
    const done = `${name} is primary for ${channel}${former ? `, in place of ${former.name}` : ''}`
    const undo = () => (former ? make(former._id) : unmake())
    return act(() => make(_id), done, undo)
  }
  const tone = deleted ? 'bad' : active ? 'good' : 'warn'
  return (
    <div class="with-switch">
      <Row
        {...place}
        tone={tone}
        note={
          <>
            <bdi>{providerId}</bdi> · <bdi class="mono">{identifier}</bdi>
          </>
        }
        end={tone !== 'good' && <Chip tone={tone}>{deleted ? 'deleted' : 'not active'}</Chip>}
      >
        <bdi>{name}</bdi>
      </Row>
      <input
        type="checkbox"
        role="switch"
        class="switch"
        aria-label={`${name} is primary for ${channel}`}
        checked={primary && !deleted}
        disabled={deleted}
        onClick={toggle}
      />
    </div>
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
  const remove = async () => {
    await env.integrations.remove(_id)
    go(back)
  }
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
      about={
        <span class="hint" dir="auto">
          {channel} · {identifier}
        </span>
      }
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
