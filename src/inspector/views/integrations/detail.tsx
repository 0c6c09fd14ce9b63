import { useState } from 'preact/hooks'
import type { Integration } from '../../../client/index.js'
import { ConfirmButton } from '../../parts/confirm.js'
import { useCloseDetail } from '../../parts/detail.js'
import { Dialog } from '../../parts/dialog.js'
import { Json } from '../../parts/json.js'
import { useNotices } from '../../parts/notices.js'
import type { Fields } from '../../parts/schema.js'
import { SchemaForm } from '../../parts/schema-form.js'
import { addressOf, go } from '../../shell/router.js'
import { useSession } from '../../shell/session.js'
import { MakePrimary } from './make-primary.js'
import { MAIN_FIELDS, Marks } from './marks.js'
import { maskSecrets } from './secrets.js'

/** One integration, and what one can do with it. */
export function IntegrationDetail({
  integration,
  query
}: {
  integration: Integration & { _id: string }
  /** What the list is searched for. */
  query: string
}) {
  const close = useCloseDetail(addressOf(['integrations'], { q: query }))
  const { env, changed } = useSession()
  const { run } = useNotices()
  const [isEditing, setEditing] = useState(false)
  const [showsSecrets, setShowsSecrets] = useState(false)
  const { _id, name, identifier } = integration
  const remove = async () => {
    await run(async () => {
      await env.integrations.remove(_id)
      go(addressOf(['integrations']))
      changed()
    }, `Deleted ${name}`)
  }
  return (
    <section class="detail" aria-labelledby="integration-name">
      <div class="card">
        <div class="row">
          <h2 id="integration-name" dir="auto">
            {name}
          </h2>
          <Marks integration={integration} />
          <button type="button" class="quiet spread" title="Close (Esc)" onClick={close}>
            Close
          </button>
        </div>
        <Facts integration={integration} showsSecrets={showsSecrets} />
        <div class="row">
          <button type="button" onClick={() => setEditing(true)}>
            Edit
          </button>
          <button type="button" aria-pressed={showsSecrets} onClick={() => setShowsSecrets(!showsSecrets)}>
            Show credentials
          </button>
          <span class="spread">
            <ConfirmButton question={`Delete ${name}?`} button="Delete it" run={remove}>
              Delete
            </ConfirmButton>
          </span>
        </div>
      </div>
      <MakePrimary integration={integration} showsSecrets={showsSecrets} />
      <details class="card">
        <summary>As JSON</summary>
        <Json label={`${identifier} as JSON`} value={showsSecrets ? integration : maskSecrets(integration)} />
      </details>
      {isEditing && <EditIntegration integration={integration} close={() => setEditing(false)} />}
    </section>
  )
}

function Facts({ integration, showsSecrets }: { integration: Integration; showsSecrets: boolean }) {
  const { identifier, providerId, channel, credentials, configurations, conditions, deletedAt } = integration
  const values = { ...credentials, ...configurations }
  return (
    <dl class="facts">
      <dt>Identifier</dt>
      <dd dir="auto">
        <code>{identifier}</code>
      </dd>
      <dt>_id</dt>
      <dd>
        <code>{integration._id}</code>
      </dd>
      <dt>Provider</dt>
      <dd>
        {providerId}, {channel}
      </dd>
      {Object.entries(values).flatMap(([name, value]) => [
        <dt key={name}>{name}</dt>,
        <dd key={`${name}=`} dir="auto">
          {showsSecrets || typeof value === 'boolean' ? (
            typeof value === 'string' ? (
              value
            ) : (
              JSON.stringify(value)
            )
          ) : (
            <span role="img" aria-label="hidden">
              ••••••
            </span>
          )}
        </dd>
      ])}
      {conditions && conditions.length > 0 && (
        <>
          <dt>Conditions</dt>
          <dd>{conditions.length}, which set-primary takes away</dd>
        </>
      )}
      {deletedAt && (
        <>
          <dt>Deleted</dt>
          <dd>{deletedAt}</dd>
        </>
      )}
    </dl>
  )
}

function EditIntegration({ integration, close }: { integration: Integration & { _id: string }; close: () => void }) {
  const { env, changed } = useSession()
  const { tell } = useNotices()
  return (
    <Dialog title={`Edit ${integration.name}`} close={close} wide>
      <SchemaForm
        operation="changeIntegration"
        record={integration as unknown as Fields}
        main={MAIN_FIELDS}
        button="Save"
        submit={async (changes) => {
          const { name, identifier } = await env.integrations.change(integration._id, changes)
          close()
          // It may have another address now.
          go(addressOf(['integrations', identifier]), { replace: true })
          changed()
          tell(`Saved ${name}`)
        }}
      />
    </Dialog>
  )
}
