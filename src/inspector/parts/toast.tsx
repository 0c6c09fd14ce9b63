import { render } from 'preact'
import { messageOf } from './errors.js'
import { Icon } from './icon.js'

interface Toast {
  text: string
  button?: { name: string; run(): unknown } | undefined
  isBad?: boolean
}

/** How long a toast stays, in milliseconds; one with a button longer, as it is to be decided on. One of a failure stays. */
const STAY = 6000
const STAY_WITH_BUTTON = 15_000
const MAX_SHOWN = 4

const host = Object.assign(document.createElement('div'), {
  className: 'toasts',
  role: 'status',
  ariaLive: 'polite'
})
let shown: readonly Toast[] = []

/** Puts the toasts into the topmost dialog, if one is open: nothing outside of it can be read or clicked then. */
export function placeToasts(): void {
  const place = [...document.querySelectorAll('dialog[open]')].at(-1) ?? document.body
  if (host.parentNode !== place) place.append(host)
}

function show(toasts: readonly Toast[]): void {
  shown = toasts.slice(-MAX_SHOWN)
  placeToasts()
  render(shown.map(lineOf), host)
}

const dismiss = (toast: Toast) => show(shown.filter((each) => each !== toast))

/** Tells what an action has done, with a button such as Undo. */
export function tell(text: string, button?: Toast['button']): void {
  const toast = { text, button }
  show([...shown, toast])
  setTimeout(dismiss, button ? STAY_WITH_BUTTON : STAY, toast)
}

/** Runs an action and tells what came of it. Returns its result, or undefined if it failed. */
export async function run<Result>(
  action: () => Promise<Result>,
  done?: string
): Promise<Result | undefined> {
  try {
    const result = await action()
    if (done !== undefined) tell(done)
    return result
  } catch (error) {
    show([...shown, { text: messageOf(error), isBad: true }])
    return undefined
  }
}

function lineOf(toast: Toast) {
  const { text, isBad, button } = toast
  return (
    <div key={toast} class="toast line">
      <span class={isBad ? 'toned is-bad' : ''} dir="auto">
        {text}
      </span>
      {button && (
        <button class="quiet toned is-accent" onClick={() => [dismiss(toast), button.run()]}>
          {button.name}
        </button>
      )}
      <button class="quiet only-icon" aria-label="Dismiss" onClick={() => dismiss(toast)}>
        <Icon name="close" />
      </button>
    </div>
  )
}
