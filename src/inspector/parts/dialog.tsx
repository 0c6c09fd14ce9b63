import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { Icon } from './icon.js'
import { ToastsInDialog } from './toast.js'

/** A dialog over the page, open while it is rendered. Escape and a click beside it close it; the focus goes back then. */
export function Dialog({
  title,
  children,
  close,
  wide = false,
  isBare = false
}: {
  title: string
  children: ComponentChildren
  close: () => void
  wide?: boolean
  /** Whether it shows its children only; its title is then its name. */
  isBare?: boolean
}) {
  const ref = useRef<HTMLDialogElement>(null)
  const isPressedBeside = useRef(false)
  const id = useId()
  useEffect(() => {
    const focused = document.activeElement
    ref.current?.showModal()
    return () => {
      if (focused instanceof HTMLElement) focused.focus()
    }
  }, [])
  return (
    <dialog
      ref={ref}
      class={wide ? 'dialog is-wide' : 'dialog'}
      {...(isBare ? { 'aria-label': title } : { 'aria-labelledby': id })}
      onCancel={(event) => {
        // A file chooser that is left without a choice tells so too.
        if (event.target !== ref.current) return
        event.preventDefault()
        close()
      }}
      onPointerDown={(event) => {
        isPressedBeside.current = event.target === ref.current
      }}
      // Who marks the text of a field may let go of the button beside the dialog.
      onClick={(event) => event.target === ref.current && isPressedBeside.current && close()}
    >
      {!isBare && (
        <div class="dialog-head">
          <h2 id={id}>{title}</h2>
          <button type="button" class="quiet only-icon" aria-label="Close" onClick={close}>
            <Icon name="close" />
          </button>
        </div>
      )}
      {isBare ? children : <div class="dialog-body">{children}</div>}
      <ToastsInDialog />
    </dialog>
  )
}
