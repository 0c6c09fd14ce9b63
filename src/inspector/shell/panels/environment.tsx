import type { EnvironmentOptions } from '../../../client/index.js'
import { Dialog } from '../../parts/dialog.js'
import { ErrorNote } from '../../parts/errors.js'
import { JsonDialog } from '../../parts/json-form.js'
import { JsonTree } from '../../parts/json-tree.js'
import { useResource } from '../../parts/resource.js'
import { environmentAddress, go, useRoute } from '../router.js'
import { useSession } from '../session.js'

/** Makes an environment, at first one with what this one has now. */
export function NewEnvironment({ close }: { close: () => void }) {
  const { mock, listed, changed } = useSession()
  const { view } = useRoute()
  const make = async (options: EnvironmentOptions) => {
    const made = await mock.environment(options)
    changed()
    go(environmentAddress(view, made.name))
  }
  const fork = { name: `${listed?.name}, a fork`, from: listed?.name, profile: listed?.profile }
  return <JsonDialog title="Make an environment" value={fork} button="Make it" submit={make} close={close} />
}

/** The profile of the environment: which position it takes on each assumption, and which of them are its own. */
export function ProfileDialog({ close }: { close: () => void }) {
  const { mock, listed } = useSession()
  const { value, error, reload } = useResource(() => mock.assumptions(), [mock])
  const profile = listed?.profile ?? 'document'
  const positions = value && Object.fromEntries(value.map((each) => [each.id, each[profile]]))
  return (
    <Dialog title={`Profile ${profile}`} close={close}>
      <p class="muted">
        Its positions, those marked that are not as the profile has them. They are chosen when an environment is made;{' '}
        <a href="docs/assumptions.md">what each means</a>.
      </p>
      {error !== undefined && <ErrorNote error={error} retry={reload} />}
      {positions && <JsonTree label="Positions" value={{ ...positions, ...listed?.assumptions }} other={positions} />}
    </Dialog>
  )
}
