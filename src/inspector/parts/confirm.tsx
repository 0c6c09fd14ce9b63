import { useState } from 'preact/hooks'
import { Dialog } from './dialog.js'

interface Question {
  question: string
  button: string
  /** What to know before one answers. */
  hint?: string
  /** What can't be undone. It tells itself what came of it. */
  run: () => Promise<unknown>
}

/** Asks before it does what can't be undone. */
export function ConfirmDialog({ question, button, hint, run, close }: Question & { close: () => void }) {
  const [isBusy, setBusy] = useState(false)
  const confirm = async () => {
    setBusy(true)
    await run()
    setBusy(false)
    close()
  }
  return (
    <Dialog title={question} close={close}>
      {hint && <p class="hint">{hint}</p>}
      <div class="row">
        <button type="button" class="danger" disabled={isBusy} onClick={confirm}>
          {button}
        </button>
        <button type="button" autofocus onClick={close}>
          Cancel
        </button>
      </div>
    </Dialog>
  )
}
