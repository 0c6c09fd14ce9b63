import { useState } from 'preact/hooks'
import type { Integration } from '../../../client/index.js'
import { CHANNELS } from '../../parts/channels.js'
import { Dialog } from '../../parts/dialog.js'
import { Empty } from '../../parts/empty.js'
import { ErrorNote } from '../../parts/errors.js'
import { moveFocus } from '../../parts/keys.js'
import { useNotices } from '../../parts/notices.js'
import { useResource } from '../../parts/resource.js'
import { SchemaForm } from '../../parts/schema-form.js'
import { Search } from '../../parts/search.js'
import { useCommands } from '../../shell/palette.js'
import { addressOf, go } from '../../shell/router.js'
import { useSession } from '../../shell/session.js'
import type { ViewProps } from '../view.js'
import { IntegrationDetail } from './detail.js'
import { MAIN_FIELDS, Marks } from './marks.js'
import './integrations.css'
import '../../parts/items.css'

/** How many of a channel are listed at first. */
const PAGE = 100

/** The integrations of the environment by channel; `#/integrations/<identifier>` shows one of them. */
export function IntegrationsView({ route }: ViewProps) {
  const { env, version } = useSession()
  const { value, error, reload } = useResource(() => env.integrations.list(), [env, version])
  const [isAdding, setAdding] = useState(false)
  const text = route.params.get('q') ?? ''
  const [wanted] = route.rest
  useCommands([
    { name: 'Add an integration', run: () => setAdding(true) },
    ...(value ?? []).slice(0, 200).map(({ identifier, name }) => ({
      name: `Show the integration ${name} (${identifier})`,
      run: () => go(addressOf(['integrations', identifier]))
    }))
  ])
  const isWanted = ({ identifier, _id }: Integration) => identifier === wanted || _id === wanted
  const shown = (value ?? []).filter((each) => matches(each, text))
  // The list is one stop of Tab.
  const stop = (
    shown.find(isWanted) ?? CHANNELS.flatMap((channel) => shown.find((each) => each.channel === channel) ?? [])[0]
  )?._id
  const chosen = value?.find(isWanted)
  return (
    <>
      <div class="view-head">
        <h1>Integrations</h1>
        <Search
          label="Find an integration"
          value={text}
          change={(q) => go(addressOf(['integrations', ...route.rest], { q }), { replace: true })}
        />
        <button type="button" class="primary spread" onClick={() => setAdding(true)}>
          Add an integration
        </button>
      </div>
      {error !== undefined && <ErrorNote error={error} retry={reload} />}
      {value?.length === 0 && (
        <Empty title="No integrations">
          <p>Add one here, or load a seed that has some.</p>
        </Empty>
      )}
      {value !== undefined && value.length > 0 && (
        <div class={wanted === undefined ? 'integrations' : 'integrations split has-detail'}>
          <div class="by-channel" onKeyDown={moveFocus}>
            {shown.length === 0 && <p class="hint">None has “{text}” in its name, identifier or provider.</p>}
            {CHANNELS.map((channel) => (
              <ChannelSection
                key={channel}
                channel={channel}
                integrations={shown.filter((each) => each.channel === channel)}
                chosen={chosen?._id}
                stop={stop}
                query={text}
              />
            ))}
          </div>
          {chosen && <IntegrationDetail key={chosen._id} integration={chosen} query={text} />}
          {wanted !== undefined && !chosen && (
            <Empty title={`There is no integration ${wanted}`}>
              <a href={addressOf(['integrations'])}>Show all</a>
            </Empty>
          )}
        </div>
      )}
      {isAdding && <AddIntegration close={() => setAdding(false)} />}
    </>
  )
}

function matches({ name, identifier, providerId }: Integration, text: string): boolean {
  return [name, identifier, providerId].some((each) => each.toLowerCase().includes(text.toLowerCase()))
}

function ChannelSection({
  channel,
  integrations,
  chosen,
  stop,
  query
}: {
  channel: string
  integrations: readonly (Integration & { _id: string })[]
  chosen: string | undefined
  stop: string | undefined
  query: string
}) {
  const [limit, setLimit] = useState(PAGE)
  if (integrations.length === 0) return null
  const hasPrimary = integrations.some(({ primary, deleted }) => primary && !deleted)
  return (
    <section class="channel" aria-labelledby={`channel-${channel}`}>
      <h2 id={`channel-${channel}`}>
        {channel} {!hasPrimary && <span class="badge">no primary</span>}
      </h2>
      <ul class="items">
        {integrations.slice(0, limit).map((each) => (
          <li key={each._id}>
            <a
              data-item
              tabIndex={each._id === stop ? 0 : -1}
              href={addressOf(['integrations', each.identifier], { q: query })}
              aria-current={each._id === chosen ? 'true' : undefined}
              // As one goes through the list, what is open follows.
              onFocus={() =>
                chosen !== undefined &&
                go(addressOf(['integrations', each.identifier], { q: query }), { replace: true })
              }
            >
              <span class="name" dir="auto">
                {each.name}
              </span>
              <code class="hint" dir="auto">
                {each.identifier}
              </code>
              <span class="hint">{each.providerId}</span>
              <Marks integration={each} />
            </a>
          </li>
        ))}
      </ul>
      {integrations.length > limit && (
        <button type="button" onClick={() => setLimit(limit + PAGE)}>
          Show {Math.min(PAGE, integrations.length - limit)} more of {integrations.length - limit}
        </button>
      )}
    </section>
  )
}

function AddIntegration({ close }: { close: () => void }) {
  const { env, changed } = useSession()
  const { tell } = useNotices()
  return (
    <Dialog title="Add an integration" close={close} wide>
      <SchemaForm
        operation="addIntegration"
        main={MAIN_FIELDS}
        button="Add"
        submit={async (fields) => {
          // The server checks it by the schema that the form is made from.
          const added = await env.integrations.add(fields as never)
          close()
          changed()
          tell(`Added ${added.name}`)
          go(addressOf(['integrations', added.identifier]))
        }}
      />
    </Dialog>
  )
}
