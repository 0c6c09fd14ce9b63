import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { Icon } from './icon.js'
import { moveToastsToTop } from './toast.js'

interface Props {
  title: string
  children: ComponentChildren
  close(): void
  wide?: boolean
  /** Whether to show only the children. The title is then the accessible name. */
  isBare?: boolean
}

/**
 * A modal dialog, open while it is rendered. Escape and a click outside close it, and the focus
 * returns to the element that had it.
 */
export function Dialog({ title, children, close, wide, isBare }: Props) {
  const ref = useRef<HTMLDialogElement>(null)
  useLayoutEffect(() => {
    const dialog = ref.current
    dialog?.showModal()
    moveToastsToTop()
    return () => {
      setTimeout(moveToastsToTop)
      // The browser restores the focus only when the dialog is closed before it is removed.
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
