import { useEffect, useState } from 'preact/hooks'
import type { EnvironmentOptions, ListedEnvironment } from '../../../client/index.js'
import { ConfirmButton } from '../../parts/confirm.js'
import { Dialog } from '../../parts/dialog.js'
import { ErrorNote } from '../../parts/errors.js'
import { environmentAddress, type PanelProps, useAction } from '../panel.js'
import { go, useRoute } from '../router.js'
import { useSession } from '../session.js'

const PAGE = 50

/** All environments of the server: finds, creates, forks and removes them. */
export function EnvironmentsPanel({
  close,
  reload,
  environments
}: PanelProps & { environments: readonly ListedEnvironment[] }) {
  const { mock, listed } = useSession()
  const { view } = useRoute()
  const { act } = useAction({ reload })
  const [text, setText] = useState('')
  // Others may have come since.
  useEffect(reload, [reload])
  const found = environments.filter(({ name, environmentId }) =>
    `${name} ${environmentId}`.toLowerCase().includes(text.toLowerCase())
  )
  const remove = async (environment: ListedEnvironment) => {
    const isRemoved = await act(async () => {
      await mock.removeEnvironment(environment.environmentId)
      return true
    }, `Removed: ${environment.name}`)
    if (isRemoved && environment.environmentId === listed?.environmentId) go('#/')
  }
  return (
    <Dialog title="Environments" close={close} wide>
      <NewEnvironment reload={reload} />
      <input
        type="search"
        aria-label="Find an environment"
        placeholder="Find an environment"
        value={text}
        dir="auto"
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <ul class="environments" aria-label="Environments">
        {found.slice(0, PAGE).map((environment) => (
          <li key={environment.environmentId} class="row">
            <a href={environmentAddress(view, environment)} dir="auto">
              {environment.name}
            </a>
            <span class="badge">{environment.profile}</span>
            {environment.environmentId === listed?.environmentId && <span class="badge is-accent">shown</span>}
            {environment.expiresAt !== undefined && <span class="badge is-warn">until {environment.expiresAt}</span>}
            <code class="hint">{environment.environmentId}</code>
            <span class="spread">
              <ConfirmButton
                question={`Remove ${environment.name} with all its data?`}
                button="Remove it"
                run={() => remove(environment)}
              >
                Remove<span class="visually-hidden"> {environment.name}</span>
              </ConfirmButton>
            </span>
          </li>
        ))}
      </ul>
      {found.length > PAGE && <p class="hint">And {(found.length - PAGE).toLocaleString()} more: search for them.</p>}
      {found.length === 0 && <p class="hint">No environment is called so.</p>}
    </Dialog>
  )
}

function NewEnvironment({ reload }: Pick<PanelProps, 'reload'>) {
  const { mock, listed } = useSession()
  const { view } = useRoute()
  const { act, isRunning, error } = useAction({ reload, showsErrors: true })
  const [name, setName] = useState('')
  const [origin, setOrigin] = useState('fork')
  const [profile, setProfile] = useState('')
  const create = async () => {
    const options: EnvironmentOptions = {
      ...(name && { name }),
      ...(profile && { profile: profile as 'document' | 'live' }),
      ...(origin === 'fork' && listed && { from: listed.environmentId }),
      ...(origin === 'default' && { scenario: 'default' })
    }
    const created = await act(
      () => mock.environment(options),
      (made) => `Created: ${made.name}`
    )
    if (created) go(environmentAddress(view, created))
  }
  return (
    <form
      class="row new-environment"
      onSubmit={(event) => {
        event.preventDefault()
        create()
      }}
    >
      <label>
        Name
        <input value={name} dir="auto" maxLength={200} onInput={(event) => setName(event.currentTarget.value)} />
      </label>
      <label>
        With
        <select value={origin} onChange={(event) => setOrigin(event.currentTarget.value)}>
          <option value="fork">what {listed?.name} has now</option>
          <option value="default">the default seed</option>
          <option value="empty">nothing in it</option>
        </select>
      </label>
      <label>
        Profile
        <select value={profile} onChange={(event) => setProfile(event.currentTarget.value)}>
          <option value="">as there</option>
          <option value="document">document</option>
          <option value="live">live</option>
        </select>
      </label>
      <button type="submit" disabled={isRunning}>
        Create
      </button>
      {error !== undefined && <ErrorNote error={error} />}
    </form>
  )
}
