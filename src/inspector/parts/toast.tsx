import { render } from 'preact'
import { messageOf } from './errors.js'
import { Icon } from './icon.js'

interface ToastButton {
  name: string
  run(): unknown
}

interface Toast {
  text: string
  button?: ToastButton | undefined
  isBad?: boolean
}

/** How long a toast stays, in milliseconds; one with a button longer, as it is to be decided on. */
const STAY = 6000
const STAY_WITH_BUTTON = 15_000

const host = Object.assign(document.createElement('div'), { className: 'toasts', role: 'status', ariaLive: 'polite' })
const shown = new Map<number, Toast>()
let count = 0

/** Puts the toasts into the topmost dialog, if one is open: nothing outside of it can be read or clicked then. */
export function placeToasts(): void {
  const place = [...document.querySelectorAll('dialog[open]')].at(-1) ?? document.body
  if (host.parentNode !== place) place.append(host)
}

function show(): void {
  placeToasts()
  const lines = [...shown].slice(-4).map(([id, toast]) => <ToastLine key={id} toast={toast} close={() => remove(id)} />)
  render(lines, host)
}

function remove(id: number): void {
  if (shown.delete(id)) show()
}

function add(toast: Toast, stay?: number): void {
  const id = ++count
  shown.set(id, toast)
  show()
  if (stay !== undefined) setTimeout(remove, stay, id)
}

/** Tells what an action has done, with a button such as Undo. */
export function tell(text: string, button?: ToastButton): void {
  add({ text, button }, button ? STAY_WITH_BUTTON : STAY)
}

/** Runs an action and tells what came of it. Returns its result, or undefined if it failed. */
export async function run<Result>(action: () => Promise<Result>, done?: string): Promise<Result | undefined> {
  try {
    const result = await action()
    if (done !== undefined) tell(done)
    return result
  } catch (error) {
    add({ text: messageOf(error), isBad: true })
    return undefined
  }
}

const TOASTS = { tell, run }

/** Tells the person what an action has done. */
export const useToasts = () => TOASTS

function ToastLine({ toast: { text, isBad, button }, close }: { toast: Toast; close: () => void }) {
  const press = () => {
    close()
    button?.run()
  }
  return (
    <div class="toast line">
      <span class={isBad ? 'toned is-bad' : ''} dir="auto">
        {text}
      </span>
      {button && (
        <button class="quiet toned is-accent" onClick={press}>
          {button.name}
        </button>
      )}
      <button class="quiet only-icon" aria-label="Dismiss" onClick={close}>
        <Icon name="close" />
      </button>
    </div>
  )
}
