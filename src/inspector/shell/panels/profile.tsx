import { Chip } from '../../parts/chip.js'
import { Dialog } from '../../parts/dialog.js'
import { ErrorNote } from '../../parts/errors.js'
import { useResource } from '../../parts/resource.js'
import { WithCode } from '../../parts/with-code.js'
import { type PanelProps, withPanel } from '../panel.js'
import { useSession } from '../session.js'

/** The profile of the environment, and which position it takes on each assumption. */
export function ProfilePanel({ close }: PanelProps) {
  const { mock, listed } = useSession()
  const { value: assumptions = [], error, reload } = useResource(() => mock.assumptions(), [mock])
  const own = listed?.assumptions ?? {}
  // Those of its own first.
  const sorted = [...assumptions].sort((one, other) => Number(other.id in own) - Number(one.id in own))
  return (
    <Dialog title={listed ? `Profile ${listed.profile}` : 'Profile and assumptions'} close={close} wide>
      <p class="muted">
        {listed?.profile === 'document' && 'It follows the contract. '}
        {listed?.profile === 'live' && 'It follows the deployed service. '}
        {!listed && 'Which positions it takes is told only to who may list the environments. '}
        The profile, and what differs from it, are chosen when an environment is made:{' '}
        <a href={withPanel('environments')}>make one</a>, or start the server with <code>--profile</code> and{' '}
        <code>--assume</code>.
      </p>
      {error !== undefined && <ErrorNote error={error} retry={reload} />}
      <ul class="assumptions">
        {sorted.map(({ id, sentence, values, ...positions }) => {
          const chosen = listed && (own[id] ?? positions[listed.profile])
          return (
            <li key={id} aria-label={id}>
              <p>
                <b>{id}</b> {id in own && <Chip tone="warn">not as the profile</Chip>}
              </p>
              <p class="muted">
                <WithCode text={sentence} />
              </p>
              <dl class="facts">
                {Object.entries(values).map(([value, words]) => [
                  <dt key={value}>
                    {value === chosen ? '● ' : '○ '}
                    {value}
                    {value === chosen && <span class="visually-hidden"> (this one)</span>}
                  </dt>,
                  <dd key={`${value}:`}>
                    <WithCode text={words} />
                  </dd>
                ])}
              </dl>
            </li>
          )
        })}
      </ul>
    </Dialog>
  )
}
