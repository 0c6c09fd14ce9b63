import './panels.css'
import { useEffect, useState } from 'preact/hooks'
import type { ListedEnvironment } from '../../../client/index.js'
import { useToasts } from '../../parts/toast.js'
import { usePanel } from '../panel.js'
import { useSession } from '../session.js'
import { ClockPanel } from './clock.js'
import { EnvironmentsPanel } from './environments.js'
import { ProfilePanel } from './profile.js'
import { ResetPanel } from './reset.js'
import { type DroppedFile, readFile, SeedPanel } from './seed.js'
import { SnapshotsPanel } from './snapshots.js'

interface Props {
  environments: readonly ListedEnvironment[]
  reload(): void
}

/** What one does with the environment as a whole, each in a dialog of its own, at `?panel=clock`. */
export function Panels({ environments, reload }: Props) {
  const { name, open, close } = usePanel()
  const { listed } = useSession()
  const { file, setFile, isOver } = useDroppedFile(() => open('seed'))
  const props = { close, reload }
  return (
    <>
      {name === 'clock' && <ClockPanel {...props} />}
      {name === 'snapshots' && <SnapshotsPanel {...props} />}
      {name === 'reset' && <ResetPanel {...props} />}
      {name === 'profile' && <ProfilePanel {...props} />}
      {name === 'seed' && <SeedPanel {...props} file={file} setFile={setFile} />}
      {name === 'environments' && listed && <EnvironmentsPanel {...props} environments={environments} />}
      {isOver && <p class="drop-here">Drop the seed file; it is loaded once you say so</p>}
    </>
  )
}

/** A file that was dropped anywhere onto the page. */
function useDroppedFile(tell: () => void) {
  const { run } = useToasts()
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
