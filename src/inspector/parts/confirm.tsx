import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { Dialog } from './dialog.js'

/** A button for what can't be undone: it asks first. `run` tells itself what came of it. */
export function ConfirmButton({
  children,
  question,
  button,
  run
}: {
  children: ComponentChildren
  question: string
  button: string
  run: () => Promise<unknown>
}) {
  const [isOpen, setOpen] = useState(false)
  const [isBusy, setBusy] = useState(false)
  const confirm = async () => {
    setBusy(true)
    await run()
    setBusy(false)
    setOpen(false)
  }
  return (
    <>
      <button type="button" class="danger" onClick={() => setOpen(true)}>
        {children}
      </button>
      {isOpen && (
        <Dialog title={question} close={() => setOpen(false)}>
          <div class="row">
            <button type="button" class="danger" disabled={isBusy} onClick={confirm}>
              {button}
            </button>
            <button type="button" autofocus onClick={() => setOpen(false)}>
              Cancel
            </button>
          </div>
        </Dialog>
      )}
    </>
  )
}
