import type { ComponentChildren } from 'preact'
import { useId, useRef, useState } from 'preact/hooks'
import { Icon, type IconName } from './icon.js'
import { moveFocus } from './keyboard.js'

interface ButtonProps {
  /** The button's content; three dots by default. */
  button?: ComponentChildren
  /** The accessible name of the button and of the panel. */
  label: string
  /** The button's CSS classes, such as `quiet`. */
  class?: string
  title?: string
}

interface PopoverProps extends ButtonProps {
  isPadded?: boolean
  /** Returns the panel's content. Called only while the panel is open. */
  children(close: () => void): ComponentChildren
}

/**
 * A button that opens a panel. Escape or a click outside closes the panel, and the focus returns to
 * the button.
 */
export function Popover({ button, label, isPadded, children, ...buttonProps }: PopoverProps) {
  const id = useId()
  const panel = useRef<HTMLDivElement>(null)
  const [isOpen, setOpen] = useState(false)
  const onToggle = ({ newState }: Pick<ToggleEvent, 'newState'>) => {
    setOpen(newState === 'open')
    if (newState !== 'open') return
    requestAnimationFrame(() => panel.current && placeAndFocus(panel.current))
  }
  return (
    <>
      <button
        type="button"
        class={button ? '' : 'quiet only-icon'}
        aria-label={label}
        aria-haspopup="true"
        aria-expanded={isOpen}
        popovertarget={id}
        {...buttonProps}
      >
        {button ?? <Icon name="more" />}
      </button>
      <div
        ref={panel}
        id={id}
        popover="auto"
        class={`popover ${isPadded ? 'is-padded' : ''}`}
        role="dialog"
        aria-label={label}
        onToggle={onToggle}
      >
        {isOpen && children(() => panel.current?.hidePopover())}
      </div>
    </>
  )
}

/** Pixels between a panel and its button. */
const BUTTON_GAP = 4
/** The smallest distance in pixels between a panel and the window's edge. */
const EDGE_GAP = 8

/**
 * Places a panel below its button, or above the button if it only fits there. Then focuses the
 * first control in the panel.
 */
function placeAndFocus(panel: HTMLElement): void {
  const button = panel.previousElementSibling?.getBoundingClientRect()
  const { left = 0, bottom = 0, top = 0 } = button ?? {}
  const { offsetWidth, offsetHeight } = panel
  const fitsBelow = bottom + BUTTON_GAP + offsetHeight <= innerHeight
  const isBelow = fitsBelow || top < offsetHeight
  const rightmost = innerWidth - offsetWidth - EDGE_GAP
  panel.style.left = `${Math.max(EDGE_GAP, Math.min(left, rightmost))}px`
  panel.style.top = `${isBelow ? bottom + BUTTON_GAP : top - offsetHeight - BUTTON_GAP}px`
  panel.querySelector<HTMLElement>('[autofocus], [data-item], input, button')?.focus()
}

export interface Action {
  name: string
  icon?: IconName | undefined
  /** Muted text after the name, such as a keyboard shortcut. */
  hint?: string | undefined
  isDanger?: boolean
  /**
   * Whether the action itself changes nothing, for example because it opens a dialog or copies
   * text. The palette preselects only such actions, so that Enter never changes anything by
   * accident.
   */
  isReadOnly?: boolean
  run(): unknown
}

export interface ActionGroup {
  title?: string | undefined
  actions: readonly Action[]
}

/** A button that opens a menu of actions. */
export function ActionMenu({
  groups,
  ...buttonProps
}: ButtonProps & { groups: readonly ActionGroup[] }) {
  const choose = (close: () => void, run: Action['run']) => {
    // Close the menu first, which returns the focus to the menu's button. If the action opens a
    // dialog, closing the dialog then focuses this button again.
    close()
    run()
  }
  return (
    <Popover {...buttonProps}>
      {(close) => (
        <div class="menu" onKeyDown={moveFocus}>
          {groups.map(({ title, actions }) => [
            title && <p class="section">{title}</p>,
            actions.map(({ name, icon, hint, isDanger, run }, index) => (
              <button
                key={`${index} ${name}`}
                data-item
                class={isDanger ? 'danger' : ''}
                onClick={() => choose(close, run)}
              >
                {icon && <Icon name={icon} />}
                {name}
                {hint && <span class="hint">{hint}</span>}
              </button>
            ))
          ])}
        </div>
      )}
    </Popover>
  )
}
