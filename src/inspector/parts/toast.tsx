import { render } from 'preact'
import { messageOf } from './error-note.js'
import { Icon } from './icon.js'
import { addUndo } from './undo.js'

interface Toast {
  text: string
  undo?: (() => unknown) | undefined
  isError?: boolean
}

/** Milliseconds until a toast disappears. Errors stay until they are dismissed. */
const DURATION = 6000
const DURATION_WITH_UNDO = 15_000
const MAX_TOASTS = 4

const container = Object.assign(document.createElement('div'), {
  className: 'toasts',
  role: 'status',
  ariaLive: 'polite'
})
let toasts: readonly Toast[] = []

/**
 * Moves the toasts into the topmost open dialog, or into the page if no dialog is open. While a
 * modal dialog is open, users can't click elements outside it, and screen readers skip them.
 */
export function moveToastsToTop(): void {
  const parent = [...document.querySelectorAll('dialog[open]')].at(-1) ?? document.body
  if (container.parentNode !== parent) parent.append(container)
}

function show(next: readonly Toast[]): void {
  toasts = next.slice(-MAX_TOASTS)
  moveToastsToTop()
  render(
    toasts.map((toast) => <ToastLine key={toast} toast={toast} />),
    container
  )
}

const dismiss = (toast: Toast) => show(toasts.filter((other) => other !== toast))

/** Removes the toasts about errors. */
export const dismissErrors = () => show(toasts.filter(({ isError }) => !isError))

/**
 * Shows a toast about a completed action. If `undo` is given, the toast has an Undo button, and the
 * palette offers Undo even after the toast has disappeared.
 */
export function showToast(text: string, undo?: () => unknown): void {
  const toast = { text, undo: undo && addUndo(text, undo) }
  show([...toasts, toast])
  setTimeout(dismiss, undo ? DURATION_WITH_UNDO : DURATION, toast)
}

/**
 * Runs an action. Shows `successText` in a toast if the action succeeds, or the error if it fails.
 * Returns the action's result, or undefined if the action failed.
 */
export async function runWithToast<Result>(
  action: () => Promise<Result>,
  successText?: string
): Promise<Result | undefined> {
  try {
    const result = await action()
    if (successText !== undefined) showToast(successText)
    return result
  } catch (error) {
    show([...toasts, { text: messageOf(error), isError: true }])
    return undefined
  }
}

function ToastLine({ toast }: { toast: Toast }) {
  const { text, isError, undo } = toast
  const pressUndo = () => {
    dismiss(toast)
    undo?.()
  }
  return (
    <div class="toast line">
      <span class={isError ? 'toned is-bad' : ''} dir="auto">
        {text}
      </span>
      {undo && (
        <button class="quiet toned is-accent" onClick={pressUndo}>
          Undo
        </button>
      )}
      <button class="quiet only-icon" aria-label="Dismiss" onClick={() => dismiss(toast)}>
        <Icon name="close" />
      </button>
    </div>
  )
}
