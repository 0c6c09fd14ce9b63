import { useState } from 'preact/hooks'
import type { IntegrationPatch, NewIntegration } from '../../../client/index.js'
import { Chip } from '../../parts/chip.js'
import { copyText } from '../../parts/copy.js'
import { curlOf } from '../../parts/curl.js'
import { useCloseDetail } from '../../parts/detail.js'
import { changesOf, type Fields, JsonDialog } from '../../parts/json-form.js'
import { JsonTree } from '../../parts/json-tree.js'
import { Close, Pane, Scroll } from '../../parts/pane.js'
import { useToasts } from '../../parts/toast.js'
import { addressOf, go } from '../../shell/router.js'
import { useSession } from '../../shell/session.js'
import { type Listed, usePrimary } from './primary.js'
import { maskSecrets, unmasked } from './secrets.js'

interface Props {
  integration: Listed
  all: readonly Listed[]
  back: string
}

/** One integration, and what one can do with it. Its credentials are hidden until one asks for them. */
export function IntegrationPane({ integration, all, back }: Props) {
  const { env, changed } = useSession()
  const { run, tell } = useToasts()
  const { isBusy, setPrimary } = usePrimary(all)
  const [isEditing, setEditing] = useState(false)
  const [showsSecrets, setShowsSecrets] = useState(false)
  const { _id, name, primary } = integration
  const { _environmentId, _organizationId, ...own } = integration
  const shown = (showsSecrets ? integration : maskSecrets(integration)) as Listed
  useCloseDetail(back)
  const remove = async () => {
    const isRemoved = await run(async () => {
      await env.integrations.remove(_id)
      return true
    })
    if (!isRemoved) return
    go(back)
    changed()
    tell(`Deleted ${name}`, {
      name: 'Undo',
      run: async () => {
        await run(() => env.integrations.add(own as NewIntegration))
        changed()
      }
    })
  }
  const save = async (after: Fields) => {
    const saved = await env.integrations.change(_id, changesOf(own, unmasked(after, own) as Fields) as IntegrationPatch)
    // It may have another address now.
    go(addressOf(['integrations', saved.identifier]), { replace: true })
    changed()
  }
  const curl = () =>
    curlOf({ method: 'POST', url: `${env.url}/v1/integrations/${_id}/set-primary`, headers: env.headers })
  const head = (
    <div class="head">
      <Title integration={integration} back={back} />
      <div class="line">
        {!primary && (
          <button type="button" class="primary" disabled={isBusy} onClick={() => setPrimary(integration, true)}>
            Make primary
          </button>
        )}
        <button type="button" onClick={() => setEditing(true)}>
          Edit
        </button>
        <button type="button" aria-pressed={showsSecrets} onClick={() => setShowsSecrets(!showsSecrets)}>
          {showsSecrets ? 'Hide credentials' : 'Show credentials'}
        </button>
        <button type="button" onClick={() => run(() => copyText(curl()), 'Copied')}>
          Copy as curl
        </button>
        <button type="button" class="danger" onClick={remove}>
          Delete
        </button>
      </div>
    </div>
  )
  return (
    <Pane label="The integration" head={head}>
      <Scroll>
        <JsonTree value={shown} label="The integration as JSON" />
      </Scroll>
      {isEditing && (
        <JsonDialog
          title={`Edit ${name}`}
          value={showsSecrets ? own : (maskSecrets(own) as Fields)}
          button="Save"
          submit={save}
          close={() => setEditing(false)}
        />
      )}
    </Pane>
  )
}

function Title({ integration, back }: Pick<Props, 'integration' | 'back'>) {
  const { name, channel, identifier, primary, active, deleted } = integration
  return (
    <div class="head-title">
      <h2 dir="auto">{name}</h2>
      {primary && !deleted && <Chip tone="accent">primary</Chip>}
      <Chip tone={deleted ? 'bad' : active ? 'good' : 'warn'}>
        {deleted ? 'deleted' : active ? 'active' : 'not active'}
      </Chip>
      <span class="hint" dir="auto">
        {channel} · {identifier}
      </span>
      <Close back={back} />
    </div>
  )
}
