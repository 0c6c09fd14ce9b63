import './environment-bar.css'
import { useEffect, useState } from 'preact/hooks'
import type { ClockState, ListedEnvironment } from '../../client/index.js'
import { CopyButton } from '../parts/copy.js'
import { useNotices } from '../parts/notices.js'
import { useResource } from '../parts/resource.js'
import { shortTime, signedDuration, timeText } from '../parts/times.js'
import { useEnvironmentCommands } from './environment-commands.js'
import { environmentAddress, usePanel } from './panel.js'
import { ClockPanel } from './panels/clock.js'
import { EnvironmentsPanel } from './panels/environments.js'
import { ProfilePanel } from './panels/profile.js'
import { ResetPanel } from './panels/reset.js'
import { type DroppedFile, readFile, SeedPanel } from './panels/seed.js'
import { SnapshotsPanel } from './panels/snapshots.js'
import { go, useRoute } from './router.js'
import { useSession } from './session.js'

interface Props {
  environments: readonly ListedEnvironment[]
  reload(): void
}

/** With more of them, one searches rather than looks through a menu. */
const MAX_IN_MENU = 20

/** Which environment is shown, and what one does with it as a whole: each in a dialog of its own, at `?panel=clock`. */
export function EnvironmentBar({ environments, reload }: Props) {
  const { listed, env, latest } = useSession()
  const { open } = usePanel()
  const { value: clock } = useResource(() => env.clock.get(), [env, latest])
  const { file, setFile, isOver } = useDroppedFile(() => open('seed'))
  useEnvironmentCommands(environments, reload)
  const overrides = Object.keys(listed?.assumptions ?? {}).length
  return (
    <div class="environment-bar">
      {listed && <EnvironmentChoice environments={environments} listed={listed} />}
      <CopyButton text={env.apiKey}>Copy key</CopyButton>
      <button type="button" onClick={() => open('profile')}>
        Profile {listed && <strong>{listed.profile}</strong>}
        {overrides > 0 && ` +${overrides}`}
      </button>
      <button type="button" title={clock && timeText(clock.now)} onClick={() => open('clock')}>
        Clock <strong>{clock && clockText(clock)}</strong>
      </button>
      <button type="button" onClick={() => open('snapshots')}>
        Snapshots
      </button>
      <button type="button" onClick={() => open('seed')}>
        Seed
      </button>
      <button type="button" onClick={() => open('reset')}>
        Reset
      </button>
      <Panels environments={environments} reload={reload} file={file} setFile={setFile} />
      {isOver && <p class="drop-here">Drop the seed file; it is loaded once you say so</p>}
    </div>
  )
}

function EnvironmentChoice({
  environments,
  listed
}: {
  environments: readonly ListedEnvironment[]
  listed: ListedEnvironment
}) {
  const { view } = useRoute()
  const { open } = usePanel()
  const isMenu = environments.length <= MAX_IN_MENU
  return (
    <>
      {isMenu && (
        <select
          aria-label="Environment"
          value={listed.environmentId}
          onChange={(event) => {
            const chosen = environments.find(({ environmentId }) => environmentId === event.currentTarget.value)
            if (chosen) go(environmentAddress(view, chosen))
          }}
        >
          {environments.map(({ environmentId, name }) => (
            <option key={environmentId} value={environmentId}>
              {name}
            </option>
          ))}
        </select>
      )}
      <button type="button" title="Choose, create and remove environments" onClick={() => open('environments')}>
        {isMenu ? 'Environments' : <bdi>{listed.name}</bdi>}
      </button>
    </>
  )
}

interface PanelsProps extends Props {
  file: DroppedFile | undefined
  setFile(file: DroppedFile | undefined): void
}

function Panels({ environments, reload, file, setFile }: PanelsProps) {
  const { name, close } = usePanel()
  const { listed } = useSession()
  const props = { close, reload }
  if (name === 'clock') return <ClockPanel {...props} />
  if (name === 'snapshots') return <SnapshotsPanel {...props} />
  if (name === 'reset') return <ResetPanel {...props} />
  if (name === 'profile') return <ProfilePanel {...props} />
  if (name === 'seed') return <SeedPanel {...props} file={file} setFile={setFile} />
  if (name === 'environments' && listed) return <EnvironmentsPanel {...props} environments={environments} />
  return null
}

/** In few characters, so that the bar stays one line. */
function clockText({ setting, now }: ClockState): string {
  if (setting.mode === 'fixed') return `stopped ${shortTime(now).slice(0, -3)}`
  return setting.mode === 'offset' ? signedDuration(setting.by) : ''
}

/** A file that was dropped anywhere onto the page. */
function useDroppedFile(tell: () => void) {
  const { run } = useNotices()
  const [file, setFile] = useState<DroppedFile>()
  const [isOver, setOver] = useState(false)
  useEffect(() => {
    const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes('Files') === true
    const over = (event: DragEvent) => {
      if (!hasFiles(event)) return
      event.preventDefault()
      setOver(true)
    }
    const leave = ({ relatedTarget }: DragEvent) => {
      // Of the window, and not of an element in it.
      if (relatedTarget === null) setOver(false)
    }
    const drop = async (event: DragEvent) => {
      if (!hasFiles(event)) return
      event.preventDefault()
      setOver(false)
      const [dropped] = event.dataTransfer?.files ?? []
      if (!dropped) return
      const read = await run(() => readFile(dropped))
      if (!read) return
      setFile(read)
      tell()
    }
    addEventListener('dragover', over)
    addEventListener('dragleave', leave)
    addEventListener('drop', drop)
    return () => {
      removeEventListener('dragover', over)
      removeEventListener('dragleave', leave)
      removeEventListener('drop', drop)
    }
  })
  return { file, setFile, isOver }
}
