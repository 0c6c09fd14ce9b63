import './integrations.css'
import { useMemo, useState } from 'preact/hooks'
import type { Integration, NewIntegration } from '../../../client/index.js'
import { CHANNELS } from '../../parts/channels.js'
import { Chip } from '../../parts/chip.js'
import { Empty } from '../../parts/empty.js'
import { JsonDialog } from '../../parts/json-form.js'
import { ListView, NothingOpen } from '../../parts/list-view.js'
import { useResource } from '../../parts/resource.js'
import { ROW, ROW_WITH_NOTE, Row } from '../../parts/row.js'
import { useCommands } from '../../shell/palette.js'
import { addressOf, go } from '../../shell/router.js'
import { useSession } from '../../shell/session.js'
import type { ViewProps } from '../view.js'
import { IntegrationPane } from './detail.js'
import { type Listed, usePrimary } from './primary.js'

/** Steps of these channels are sent through their primary integration. */
const NEEDS_PRIMARY = new Set(['email', 'sms'])

type Item = Listed | { heading: string; hasPrimary: boolean }

/** The integrations of the environment by channel, the primary one as a switch; `#/integrations/<identifier>` opens one. */
export function IntegrationsView({ route }: ViewProps) {
  const { env, version } = useSession()
  const { value, error, isLoading, reload } = useResource(() => env.integrations.list(), [env, version])
  const [isAdding, setAdding] = useState(false)
  const text = route.params.get('q') ?? ''
  const [wanted] = route.rest
  const items = useMemo(() => itemsOf(value ?? [], text), [value, text])
  const open = value?.find(({ identifier, _id }) => identifier === wanted || _id === wanted)
  const href = ({ identifier }: Integration) => addressOf(['integrations', identifier], { q: text })
  const back = addressOf(['integrations'], { q: text })
  useCommands([{ name: 'Add an integration', run: () => setAdding(true) }])
  const nothing = value && (
    <Empty title={value.length === 0 ? 'No integrations' : 'No integration is called so'}>
      {value.length === 0 ? (
        <p>Add one, or load a seed that has some.</p>
      ) : (
        <a href={addressOf(['integrations'])}>All integrations</a>
      )}
    </Empty>
  )
  return (
    <>
      <ListView
        title="Integrations"
        search={{
          placeholder: 'name, identifier, provider',
          text,
          change: (q) => go(addressOf(['integrations', ...route.rest], { q }), { replace: true })
        }}
        tools={
          <button type="button" onClick={() => setAdding(true)}>
            Add
          </button>
        }
        resource={{ error, isLoading, reload }}
        label="Integrations by channel"
        items={items}
        keyOf={(item) => ('heading' in item ? undefined : item.identifier)}
        heightOf={(item) => ('heading' in item ? ROW : ROW_WITH_NOTE)}
        current={open?.identifier}
        choose={(identifier) => go(addressOf(['integrations', String(identifier)], { q: text }), { replace: true })}
        nothing={nothing}
        isOpen={wanted !== undefined}
        open={
          open ? (
            <IntegrationPane key={open._id} integration={open} all={value ?? []} back={back} />
          ) : (
            <NothingOpen back={wanted === undefined ? undefined : back}>
              {wanted === undefined
                ? 'Choose an integration to see its settings'
                : value && `There is no integration ${wanted}`}
            </NothingOpen>
          )
        }
      >
        {(item, place) =>
          'heading' in item ? (
            <h2 class="group">
              {item.heading}{' '}
              {!item.hasPrimary && <Chip tone={NEEDS_PRIMARY.has(item.heading) ? 'warn' : undefined}>no primary</Chip>}
            </h2>
          ) : (
            <IntegrationRow integration={item} all={value ?? []} href={href(item)} {...place} />
          )
        }
      </ListView>
      {isAdding && <AddIntegration close={() => setAdding(false)} />}
    </>
  )
}

/** Returns the integrations that a text is about, those of each channel below its heading. */
function itemsOf(integrations: readonly Listed[], text: string): Item[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  const found = integrations.filter(({ name, identifier, providerId }) => {
    const all = `${name} ${identifier} ${providerId}`.toLowerCase()
    return words.every((word) => all.includes(word))
  })
  return CHANNELS.flatMap((heading) => {
    const own = found.filter(({ channel }) => channel === heading)
    const hasPrimary = integrations.some(({ channel, primary, deleted }) => channel === heading && primary && !deleted)
    return own.length === 0 ? [] : [{ heading, hasPrimary }, ...own]
  })
}

interface RowProps {
  integration: Listed
  all: readonly Listed[]
  href: string
  isCurrent: boolean
  tabIndex: number
}

function IntegrationRow({ integration, all, ...place }: RowProps) {
  const { name, identifier, providerId, active, deleted, primary, channel } = integration
  const { isBusy, setPrimary } = usePrimary(all)
  const state = deleted ? 'deleted' : active ? undefined : 'not active'
  return (
    <div class="with-switch">
      <Row
        {...place}
        tone={deleted ? 'bad' : active ? 'good' : 'warn'}
        note={
          <>
            <bdi>{providerId}</bdi> · <bdi class="mono">{identifier}</bdi>
          </>
        }
        end={state && <Chip tone={deleted ? 'bad' : 'warn'}>{state}</Chip>}
      >
        <bdi>{name}</bdi>
      </Row>
      <input
        type="checkbox"
        role="switch"
        class="switch"
        aria-label={`${name} is primary for ${channel}`}
        title={primary ? 'Primary. Switch another one on in place of it' : 'Make it primary'}
        checked={primary && !deleted}
        disabled={isBusy || deleted}
        onClick={(event) => {
          // It is what the server says it is.
          event.preventDefault()
          void setPrimary(integration, !primary)
        }}
      />
    </div>
  )
}

function AddIntegration({ close }: { close: () => void }) {
  const { env, changed } = useSession()
  const add = async (fields: object) => {
    // The server checks it.
    const added = await env.integrations.add(fields as NewIntegration)
    changed()
    go(addressOf(['integrations', added.identifier]))
  }
  const value = { channel: 'email', providerId: 'sendgrid', name: 'Another', credentials: {} }
  return <JsonDialog title="Add an integration" value={value} button="Add the integration" submit={add} close={close} />
}
