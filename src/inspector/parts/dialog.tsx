import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { Icon } from './icon.js'
import { moveToastsToTop } from './toast.js'

interface Props {
  title: string
  children: ComponentChildren
  close(): void
  wide?: boolean
  /** Hides the heading and the close button. `title` is still the accessible name. */
  isBare?: boolean
}

/**
 * A modal dialog. It is open while it is rendered. Escape or a click outside closes the dialog. The
 * focus then returns to the element that had it before.
 */
export function Dialog({ title, children, close, wide, isBare }: Props) {
  const ref = useRef<HTMLDialogElement>(null)
  useLayoutEffect(() => {
    const dialog = ref.current
    dialog?.showModal()
    moveToastsToTop()
    return () => {
      setTimeout(moveToastsToTop)
      // The browser restores the focus only if the dialog is closed before it is removed.
      dialog?.close()
    }
  }, [])
  return (
    <dialog
      ref={ref}
      class={wide ? 'dialog is-wide' : 'dialog'}
      aria-label={title}
      closedby="any"
      onCancel={close}
    >
      {isBare ? (
        children
      ) : (
        <div class="dialog-body">
          <div class="line">
            <h2>{title}</h2>
            <button class="quiet only-icon spread" aria-label="Close" onClick={close}>
              <Icon name="close" />
            </button>
          </div>
          {children}
        </div>
      )}
    </dialog>
  )
}
