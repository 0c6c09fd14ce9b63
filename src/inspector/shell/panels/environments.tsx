import { useEffect, useState } from 'preact/hooks'
import type { EnvironmentOptions, ListedEnvironment } from '../../../client/index.js'
import { Chip } from '../../parts/chip.js'
import { Dialog } from '../../parts/dialog.js'
import { Icon } from '../../parts/icon.js'
import { ActionMenu } from '../../parts/popover.js'
import { useToasts } from '../../parts/toast.js'
import { environmentAddress, type PanelProps } from '../panel.js'
import { go, useRoute } from '../router.js'
import { useSession } from '../session.js'

const SHOWN = 50

interface Props extends PanelProps {
  environments: readonly ListedEnvironment[]
}

/** All environments of the server: finds, makes, forks and removes them. */
export function EnvironmentsPanel({ close, reload, environments }: Props) {
  const { mock, listed } = useSession()
  const { view } = useRoute()
  const { run } = useToasts()
  const [text, setText] = useState('')
  // Others may have come since.
  useEffect(reload, [reload])
  const found = environments.filter(({ name, environmentId }) =>
    `${name} ${environmentId}`.toLowerCase().includes(text.toLowerCase())
  )
  const remove = async ({ name, environmentId }: ListedEnvironment) => {
    await run(() => mock.removeEnvironment(environmentId), `Removed ${name}`)
    if (environmentId === listed?.environmentId) go('#/')
    reload()
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
      <ul aria-label="Environments">
        {found.slice(0, SHOWN).map((environment) => (
          <li key={environment.environmentId} class="line">
            <a href={environmentAddress(view, environment)} dir="auto">
              {environment.name}
            </a>
            <Chip>{environment.profile}</Chip>
            {environment.environmentId === listed?.environmentId && <Chip tone="accent">shown</Chip>}
            {environment.expiresAt !== undefined && <Chip tone="warn">until {environment.expiresAt}</Chip>}
            <code class="muted spread">{environment.environmentId}</code>
            <ActionMenu
              class="quiet only-icon"
              button={<Icon name="more" />}
              label={`More of ${environment.name}`}
              groups={[{ actions: [{ name: 'Remove it for good', isDanger: true, run: () => remove(environment) }] }]}
            />
          </li>
        ))}
      </ul>
      {found.length > SHOWN && <p class="muted">{(found.length - SHOWN).toLocaleString()} more: search for them.</p>}
      {found.length === 0 && <p class="muted">No environment is called so.</p>}
    </Dialog>
  )
}

function NewEnvironment({ reload }: Pick<PanelProps, 'reload'>) {
  const { mock, listed } = useSession()
  const { view } = useRoute()
  const { run } = useToasts()
  const [fields, setFields] = useState({ name: '', origin: 'fork', profile: '' })
  const { name, origin, profile } = fields
  const set = (field: string) => (event: { currentTarget: { value: string } }) =>
    setFields({ ...fields, [field]: event.currentTarget.value })
  const make = async () => {
    const options: EnvironmentOptions = {
      ...(name && { name }),
      ...(profile && { profile: profile as 'document' | 'live' }),
      ...(origin === 'fork' && listed && { from: listed.environmentId }),
      ...(origin === 'default' && { scenario: 'default' })
    }
    const made = await run(() => mock.environment(options))
    reload()
    if (made) go(environmentAddress(view, made))
  }
  return (
    <form
      class="line"
      onSubmit={(event) => {
        event.preventDefault()
        void make()
      }}
    >
      <input aria-label="Name" placeholder="A name" value={name} dir="auto" maxLength={200} onInput={set('name')} />
      <select aria-label="With" value={origin} onChange={set('origin')}>
        <option value="fork">with what {listed?.name} has now</option>
        <option value="default">with the default seed</option>
        <option value="empty">with nothing in it</option>
      </select>
      <select aria-label="Profile" value={profile} onChange={set('profile')}>
        <option value="">profile as there</option>
        <option value="document">profile document</option>
        <option value="live">profile live</option>
      </select>
      <button type="submit" class="primary">
        Make an environment
      </button>
    </form>
  )
}
