import { useState } from 'preact/hooks'
import type { Integration, NewIntegration } from '../../../client/index.js'
import { Chip } from '../../parts/chip.js'
import { useResource } from '../../parts/resource.js'
import { Row, type RowProps } from '../../parts/row.js'
import { addressOf, go, type Route } from '../../shell/router.js'
import { useSession } from '../../shell/session.js'
import { useAct, useService } from '../acts.js'
import { CHANNELS, fieldsOf, isFound, RecordPane, RecordsView } from '../records.js'

/** What the server shows always has an id. */
type Listed = Integration & { _id: string }

/** The heading of a channel, or an integration of it. */
type Item = Integration['channel'] | Listed

/** The integrations by channel, the primary one as a switch; `#/integrations/<identifier>` opens one. */
export function IntegrationsView({ route }: { route: Route }) {
  const { env, version } = useSession()
  const ask = useService()
  const act = useAct()
  const resource = useResource(() => env.integrations.list(), [env, version])
  const all = resource.value ?? []
  const isIn = isFound(route)
  const primaryOf = (channel: string) =>
    all.find((each) => each.channel === channel && each.primary && !each.deleted)
  const items = CHANNELS.flatMap((channel): Item[] => {
    const found = all.filter(
      (each) => each.channel === channel && isIn(each.name, each.identifier, each.providerId)
    )
    return found.length === 0 ? [] : [channel, ...found]
  })
  const set = ({ _id }: Listed, primary: boolean): Promise<unknown> =>
    primary
      ? ask('POST', `/v1/integrations/${encodeURIComponent(_id)}/set-primary`)
      : env.integrations.change(_id, { primary })
  const rowOf = (item: Item, row: Pick<RowProps, 'href'>) => {
    if (typeof item === 'string') {
      const none = <Chip tone={/email|sms/.test(item) ? 'warn' : undefined}>no primary</Chip>
      return <h2 class="group">{[item, !primaryOf(item) && none]}</h2>
    }
    const { name, channel, identifier, providerId, active, deleted } = item
    const primary = primaryOf(channel)
    const tone = deleted ? 'bad' : active ? 'good' : 'warn'
    const note = <bdi>{`${providerId} · ${identifier}`}</bdi>
    const end = tone !== 'good' && <Chip tone={tone}>{deleted ? 'deleted' : 'not active'}</Chip>
    const label = `${name} is primary for ${channel}`
    const toggle = (event: Event) => {
      // It is what the server says it is.
      event.preventDefault()
      const made = primary ? `${label}, in place of ${primary.name}` : label
      const undo = () => set(primary ?? item, primary !== undefined)
      return act(
        () => set(item, !item.primary),
        item.primary ? `${channel} has no primary now` : made,
        undo
      )
    }
    const state = { checked: item === primary, disabled: deleted }
    return (
      <div class="line with-switch">
        <Row {...row} {...{ tone, note, end }}>
          <bdi>{name}</bdi>
        </Row>
        <input
          type="checkbox"
          role="switch"
          class="switch"
          aria-label={label}
          {...state}
          onClick={toggle}
        />
      </div>
    )
  }
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
      open={all.find(({ identifier, _id }) => [identifier, _id].includes(route.rest[0] ?? ''))}
      pane={(own, back) => <IntegrationPane key={own._id} integration={own} back={back} />}
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
  const [isWhole, setWhole] = useState(false)
  const { _id, name, channel, identifier } = integration
  const whole = fieldsOf(integration)
  const { credentials, configurations, ...open } = whole
  const fields = isWhole ? whole : open
  const save = async (changes: object) => {
    const saved = await env.integrations.change(_id, changes)
    // It may have another address now.
    if (saved.identifier !== identifier)
      go(addressOf(['integrations', saved.identifier]), { replace: true })
  }
  return (
    <RecordPane
      noun="integration"
      title={name}
      facts={[channel, identifier]}
      back={back}
      actions={[
        { name: isWhole ? 'Hide credentials' : 'Show credentials', run: () => setWhole(!isWhole) }
      ]}
      fields={fields}
      save={save}
      remove={() => env.integrations.remove(_id)}
      putBack={() => env.integrations.add(whole as NewIntegration)}
    />
  )
}
