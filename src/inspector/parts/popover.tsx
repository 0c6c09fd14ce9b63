import type { ComponentChildren } from 'preact'
import { useId, useRef, useState } from 'preact/hooks'
import { Icon, type IconName } from './icon.js'
import { moveFocus } from './keys.js'

interface PopoverProps {
  /** What stands in the button. */
  button: ComponentChildren
  /** The name of the button where no words stand in it, and of what opens. */
  label: string
  /** Classes of the button, such as `quiet`. */
  class?: string
  title?: string
  disabled?: boolean
  isPadded?: boolean
  /** What opens; it exists only while it is open. */
  children(close: () => void): ComponentChildren
}

/** A button that opens something small below it. Escape, and a click elsewhere, close it; the focus goes back. */
export function Popover({ button, label, title, disabled, isPadded, children, ...own }: PopoverProps) {
  const id = useId()
  const opener = useRef<HTMLButtonElement>(null)
  const panel = useRef<HTMLDivElement>(null)
  const [isOpen, setOpen] = useState(false)
  const close = () => panel.current?.hidePopover()
  const toggled = ({ newState }: Pick<ToggleEvent, 'newState'>) => {
    const isNowOpen = newState === 'open'
    setOpen(isNowOpen)
    if (isNowOpen) requestAnimationFrame(() => place(opener.current, panel.current))
  }
  return (
    <>
      <button
        ref={opener}
        type="button"
        class={own.class}
        aria-label={label}
        aria-haspopup="true"
        aria-expanded={isOpen}
        title={title}
        disabled={disabled}
        popovertarget={id}
      >
        {button}
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
        {isOpen && children(close)}
      </div>
    </>
  )
}

function place(opener: HTMLElement | null, panel: HTMLElement | null): void {
  if (!opener || !panel) return
  const { left, bottom, top } = opener.getBoundingClientRect()
  const { offsetWidth, offsetHeight } = panel
  const isBelow = bottom + 4 + offsetHeight <= innerHeight || top < offsetHeight
  panel.style.left = `${Math.max(8, Math.min(left, innerWidth - offsetWidth - 8))}px`
  panel.style.top = `${isBelow ? bottom + 4 : top - offsetHeight - 4}px`
  panel.querySelector<HTMLElement>('[autofocus], [data-item], input, button')?.focus()
}

export interface Action {
  name: string
  icon?: IconName
  /** After the name, such as a key. */
  hint?: ComponentChildren
  isDanger?: boolean
  run(): unknown
}

/** Actions in a menu: a title of its own, or none, above each group. */
export type ActionGroups = readonly { title?: string; actions: readonly Action[] }[]

interface ActionMenuProps extends Pick<PopoverProps, 'button' | 'label' | 'class' | 'title' | 'disabled'> {
  groups: ActionGroups
}

/** A button that opens a list of actions. */
export function ActionMenu({ groups, ...button }: ActionMenuProps) {
  return (
    <Popover {...button}>
      {(close) => (
        <div class="menu" onKeyDown={moveFocus}>
          {groups.map(({ title, actions }, index) => [
            index > 0 && <hr key={`before ${index}`} />,
            title && (
              <p key={title} class="section">
                {title}
              </p>
            ),
            actions.map(({ name, icon, hint, isDanger, run }) => (
              <button
                key={`${title} ${name}`}
                type="button"
                data-item
                class={isDanger ? 'danger' : undefined}
                onClick={() => {
                  close()
                  run()
                }}
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
