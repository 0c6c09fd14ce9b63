import type { ListedEnvironment } from '../../client/index.js'
import { CopyButton } from '../parts/copy.js'
import { go, useRoute } from './router.js'
import { useSession } from './session.js'

interface Props {
  environments: readonly ListedEnvironment[]
  reload(): void
}

/** Which environment is shown, and what one does with it as a whole. */
export function EnvironmentBar({ environments }: Props) {
  const { listed, env } = useSession()
  const { view } = useRoute()
  return (
    <div class="environment-bar">
      {listed && (
        <select
          aria-label="Environment"
          value={listed.environmentId}
          onChange={(event) => {
            const chosen = environments.find(({ environmentId }) => environmentId === event.currentTarget.value)
            if (chosen) go(`#/${view}?environment=${encodeURIComponent(chosen.name)}`)
          }}
        >
          {environments.map(({ environmentId, name }) => (
            <option key={environmentId} value={environmentId}>
              {name}
            </option>
          ))}
        </select>
      )}
      <CopyButton text={env.apiKey}>Copy key</CopyButton>
    </div>
  )
}
