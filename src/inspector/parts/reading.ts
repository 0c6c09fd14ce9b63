import type { RefObject } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'

export interface Reading {
  /** Of the element that the list is in. */
  ref: RefObject<HTMLDivElement | null>
  /** Whether one reads the list, so that it must not move: the mouse is over it, the focus is in it, or it is scrolled. */
  isReading: boolean
  /** Goes back to the top. */
  stop(): void
}

/** Knows whether one reads a list. */
export function useReading(): Reading {
  const ref = useRef<HTMLDivElement>(null)
  const isOver = useRef(false)
  const [isReading, setReading] = useState(false)
  useEffect(() => {
    const area = ref.current
    if (!area) return
    const update = () =>
      setReading(isOver.current || area.contains(document.activeElement) || (listIn(area)?.scrollTop ?? 0) > 0)
    // Not a list that comes under a mouse at rest.
    const move = ({ pointerType }: PointerEvent) => {
      if (isOver.current || pointerType !== 'mouse') return
      isOver.current = true
      update()
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
    area.addEventListener('scroll', update, { signal, passive: true, capture: true })
    return () => controller.abort()
  }, [])
  const stop = () => {
    const list = ref.current && listIn(ref.current)
    if (list) list.scrollTop = 0
    isOver.current = false
    setReading(false)
  }
  return { ref, isReading, stop }
}

function listIn(area: HTMLElement): HTMLElement | null {
  return area.querySelector<HTMLElement>('.list')
}
