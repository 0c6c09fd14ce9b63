import type { RefObject } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'

export interface Reading {
  /** Of the element with the list and the line above it. */
  ref: RefObject<HTMLDivElement | null>
  /** Whether one reads the list, so that it must not move. */
  isReading: boolean
  /** Goes back to the newest. */
  stop(): void
}

/**
 * Knows whether one reads a list: the mouse is over it, or has come from it to the line above, or the focus is in either,
 * or it is scrolled. `list` is the selector of the list.
 */
export function useReading(list: string): Reading {
  const ref = useRef<HTMLDivElement>(null)
  const [isReading, setReading] = useState(false)
  const isOver = useRef(false)
  useEffect(() => {
    const area = ref.current
    if (!area) return
    const update = () =>
      setReading(isOver.current || area.contains(document.activeElement) || area.getBoundingClientRect().top < 0)
    // Not a list that comes under a mouse at rest.
    const move = ({ target, pointerType }: PointerEvent) => {
      if (isOver.current || pointerType !== 'mouse') return
      isOver.current = target instanceof Element && target.closest(list) !== null
      if (isOver.current) update()
    }
    const leave = () => {
      isOver.current = false
      update()
    }
    const controller = new AbortController()
    const { signal } = controller
    area.addEventListener('pointermove', move, { signal })
    area.addEventListener('pointerleave', leave, { signal })
    area.addEventListener('focusin', update, { signal })
    // The focus is not yet elsewhere when it leaves an element.
    area.addEventListener('focusout', () => setTimeout(update), { signal })
    addEventListener('scroll', update, { signal, passive: true })
    return () => controller.abort()
  }, [list])
  return useMemo(() => ({ ref, isReading, stop }), [isReading])

  function stop(): void {
    isOver.current = false
    setReading(false)
    if (ref.current && ref.current.getBoundingClientRect().top < 0) ref.current.scrollIntoView()
  }
}
