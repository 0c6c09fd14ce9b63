import './panels.css'
import { useEffect, useState } from 'preact/hooks'
import type { ListedEnvironment } from '../../../client/index.js'
import { useToasts } from '../../parts/toast.js'
import { usePanel } from '../panel.js'
import { useSession } from '../session.js'
import { EnvironmentsPanel } from './environments.js'
import { ProfilePanel } from './profile.js'
import { type DroppedFile, readFile, SeedPanel } from './seed.js'
import { SnapshotsPanel } from './snapshots.js'

interface Props {
  environments: readonly ListedEnvironment[]
  reload(): void
}

/** What one does with the environment as a whole, each in a dialog of its own, at `?panel=snapshots`. */
export function Panels({ environments, reload }: Props) {
  const { name, open, close } = usePanel()
  const { listed } = useSession()
  const { file, setFile, isOver } = useDroppedFile(() => open('seed'))
  const props = { close, reload }
  return (
    <>
      {name === 'snapshots' && <SnapshotsPanel {...props} />}
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
    const controller = new AbortController()
    const listen = (type: 'dragover' | 'dragleave' | 'drop', handle: (event: DragEvent) => unknown) =>
      addEventListener(type, handle, { signal: controller.signal })
    const take = (event: DragEvent, isOverNow: boolean) => {
      if (event.dataTransfer?.types.includes('Files') !== true) return undefined
      event.preventDefault()
      setOver(isOverNow)
      return event.dataTransfer.files[0]
    }
    listen('dragover', (event) => take(event, true))
    // Of the window, and not of an element in it.
    listen('dragleave', ({ relatedTarget }) => relatedTarget === null && setOver(false))
    listen('drop', async (event) => {
      const dropped = take(event, false)
      const read = dropped && (await run(() => readFile(dropped)))
      if (!read) return
      setFile(read)
      tell()
    })
    return () => controller.abort()
  })
  return { file, setFile, isOver }
}
