import type { ComponentChildren } from 'preact'
import { useId, useRef, useState } from 'preact/hooks'
import { Icon, type IconName } from './icon.js'
import { moveFocus } from './keys.js'

interface ButtonProps {
  /** What stands in the button; three dots if left out. */
  button?: ComponentChildren
  /** The name of the button, and of what opens. */
  label: string
  /** Classes of the button, such as `quiet`. */
  class?: string
  title?: string
}

interface PopoverProps extends ButtonProps {
  isPadded?: boolean
  /** What opens; it exists only while it is open. */
  children(close: () => void): ComponentChildren
}

/** A button that opens something small beside it. Escape, and a click elsewhere, close it; the focus goes back. */
export function Popover({ button, label, isPadded, children, ...own }: PopoverProps) {
  const id = useId()
  const panel = useRef<HTMLDivElement>(null)
  const [isOpen, setOpen] = useState(false)
  const toggled = ({ newState }: Pick<ToggleEvent, 'newState'>) => {
    setOpen(newState === 'open')
    if (newState === 'open') requestAnimationFrame(() => panel.current && place(panel.current))
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
        {...own}
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
        onToggle={toggled}
      >
        {isOpen && children(() => panel.current?.hidePopover())}
      </div>
    </>
  )
}

/** Puts a panel below its button, or above where there is no room. */
function place(panel: HTMLElement): void {
  const {
    left = 0,
    bottom = 0,
    top = 0
  } = panel.previousElementSibling?.getBoundingClientRect() ?? {}
  const { offsetWidth, offsetHeight } = panel
  const isBelow = bottom + 4 + offsetHeight <= innerHeight || top < offsetHeight
  panel.style.left = `${Math.max(8, Math.min(left, innerWidth - offsetWidth - 8))}px`
  panel.style.top = `${isBelow ? bottom + 4 : top - offsetHeight - 4}px`
  panel.querySelector<HTMLElement>('[autofocus], [data-item], input, button')?.focus()
}

export interface Action {
  name: string
  icon?: IconName | undefined
  /** After the name: more of what it is about. */
  hint?: string | undefined
  isDanger?: boolean
  run(): unknown
}

interface ActionMenuProps extends ButtonProps {
  groups: readonly { title?: string | undefined; actions: readonly Action[] }[]
}

/** A button that opens a list of actions, in groups which may have titles. */
export function ActionMenu({ groups, ...own }: ActionMenuProps) {
  // Closed first, so that a dialog which opens knows where the focus was.
  const choose = (close: () => void, run: Action['run']) => [close(), run()]
  return (
    <Popover {...own}>
      {(close) => (
        <div class="menu" onKeyDown={moveFocus}>
          {groups.map(({ title, actions }) => [
            title && <p class="section">{title}</p>,
            actions.map(({ name, icon, hint, isDanger, run }) => (
              <button
                key={name}
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
