import { useState } from 'preact/hooks'
import type { Assumption } from '../../../client/index.js'
import { Dialog } from '../../parts/dialog.js'
import { ErrorNote } from '../../parts/errors.js'
import { useResource } from '../../parts/resource.js'
import { WithCode } from '../../parts/with-code.js'
import { type PanelProps, withPanel } from '../panel.js'
import { useSession } from '../session.js'

/** The profile of the environment, and for each assumption its two positions and which of them it takes. */
export function ProfilePanel({ close }: PanelProps) {
  const { mock, listed } = useSession()
  const { value: assumptions, error, isLoading, reload } = useResource(() => mock.assumptions(), [mock])
  const [isShort, setShort] = useState(false)
  const overrides = listed?.assumptions ?? {}
  const own = Object.keys(overrides).length
  return (
    <Dialog title={listed ? `Profile ${listed.profile}` : 'Profile and assumptions'} close={close} wide>
      <p class="hint">
        {listed?.profile === 'document' && 'It follows the contract. '}
        {listed?.profile === 'live' && 'It follows the deployed service. '}
        {listed
          ? `It takes ${own === 0 ? 'no' : own} ${own === 1 ? 'position' : 'positions'} of its own.`
          : 'Which positions the environment takes is told only to who may list the environments.'}
      </p>
      <p class="hint">
        Both are chosen when an environment is created: <a href={withPanel('environments')}>create one</a>, or start the
        server with <code>--profile</code> and <code>--assume</code>.
      </p>
      {own > 0 && (
        <label class="inline">
          <input type="checkbox" checked={isShort} onChange={(event) => setShort(event.currentTarget.checked)} />
          Only those of its own
        </label>
      )}
      {error !== undefined && !isLoading && <ErrorNote error={error} retry={reload} />}
      <ul class="assumptions">
        {assumptions
          ?.filter(({ id }) => !isShort || id in overrides)
          .map((assumption) => (
            <AssumptionItem
              key={assumption.id}
              assumption={assumption}
              chosen={listed && (overrides[assumption.id] ?? assumption[listed.profile])}
              isOwn={assumption.id in overrides}
            />
          ))}
      </ul>
    </Dialog>
  )
}

function AssumptionItem({
  assumption: { id, sentence, values },
  chosen,
  isOwn
}: {
  assumption: Assumption
  chosen: string | undefined
  isOwn: boolean
}) {
  return (
    <li aria-label={id}>
      <div class="row">
        <strong>{id}</strong>
        {isOwn && <span class="badge is-warn">not as the profile</span>}
      </div>
      <p>
        <WithCode text={sentence} />
      </p>
      <dl>
        {Object.entries(values).map(([value, words]) => (
          <div key={value} class={value === chosen ? 'is-chosen' : undefined}>
            <dt>
              {value}
              {value === chosen && <span class="visually-hidden"> (this one)</span>}
            </dt>
            <dd>
              <WithCode text={words} />
            </dd>
          </div>
        ))}
      </dl>
    </li>
  )
}
