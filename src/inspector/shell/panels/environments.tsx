import type { EnvironmentOptions } from '../../../client/index.js'
import { Chip } from '../../parts/chip.js'
import { Dialog } from '../../parts/dialog.js'
import { ErrorNote } from '../../parts/errors.js'
import { JsonDialog } from '../../parts/json-form.js'
import { useResource } from '../../parts/resource.js'
import { WithCode } from '../../parts/with-code.js'
import { environmentAddress } from '../panel.js'
import { go, useRoute } from '../router.js'
import { useSession } from '../session.js'

/** Makes an environment, at first one with what this one has now. */
export function NewEnvironment({ close }: { close: () => void }) {
  const { mock, listed, reload } = useSession()
  const { view } = useRoute()
  const make = async (options: EnvironmentOptions) => {
    const made = await mock.environment(options)
    reload()
    // Once the dialog is closed, which leads back.
    setTimeout(() => go(environmentAddress(view, made)))
  }
  const fork = { name: `${listed?.name}, a fork`, from: listed?.name, profile: listed?.profile }
  return <JsonDialog title="Make an environment" value={fork} button="Make it" submit={make} close={close} />
}

/** The profile of the environment, and which position it takes on each assumption. */
export function ProfilePanel({ close }: { close: () => void }) {
  const { mock, listed } = useSession()
  const { value: assumptions = [], error, reload } = useResource(() => mock.assumptions(), [mock])
  const own = listed?.assumptions ?? {}
  // Those of its own first.
  const sorted = assumptions.toSorted((one, other) => Number(other.id in own) - Number(one.id in own))
  return (
    <Dialog title={`Profile ${listed?.profile ?? ''}`} close={close} wide>
      <p class="muted">The profile, and what differs from it, are chosen when an environment is made.</p>
      {error !== undefined && <ErrorNote error={error} retry={reload} />}
      <ul class="states">
        {sorted.map(({ id, sentence, values, ...positions }) => {
          const chosen = listed && (own[id] ?? positions[listed.profile])
          return (
            <li key={id} aria-label={id}>
              <b>{id}</b> {id in own && <Chip tone="warn">not as the profile</Chip>}
              <p class="muted">
                <WithCode text={sentence} />
              </p>
              <dl class="facts">
                {Object.entries(values).map(([value, words]) => [
                  <dt key={value}>{value === chosen ? `● ${value} (this one)` : `○ ${value}`}</dt>,
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
