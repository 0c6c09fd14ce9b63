import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { Icon } from './icon.js'
import { placeToasts } from './toast.js'

interface Props {
  title: string
  children: ComponentChildren
  close(): void
  wide?: boolean
  /** Whether it shows its children only; its title is then its name. */
  isBare?: boolean
}

/** A dialog over the page, open while it is rendered. Escape and a press beside it close it; the focus goes back then. */
export function Dialog({ title, children, close, wide, isBare }: Props) {
  const ref = useRef<HTMLDialogElement>(null)
  useLayoutEffect(() => {
    const dialog = ref.current
    dialog?.showModal()
    placeToasts()
    return () => {
      setTimeout(placeToasts)
      // It knows where the focus was.
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
