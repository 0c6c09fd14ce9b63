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
  const list = () => ref.current?.querySelector('.list')
  useEffect(() => {
    const look = () =>
      setReading(isOver.current || ref.current?.matches(':focus-within') === true || (list()?.scrollTop ?? 0) > 0)
    const controller = new AbortController()
    // A list that comes under a mouse at rest is not read yet, and a finger is nowhere once it has gone.
    for (const type of ['pointermove', 'pointerleave', 'focusin', 'focusout', 'scroll']) {
      const listen = (event: Event) => {
        if (event instanceof PointerEvent) isOver.current = type === 'pointermove' && event.pointerType === 'mouse'
        // The focus is not yet elsewhere when it leaves an element.
        setTimeout(look)
      }
      ref.current?.addEventListener(type, listen, { signal: controller.signal, capture: type === 'scroll' })
    }
    return () => controller.abort()
  }, [])
  const stop = () => {
    list()?.scrollTo(0, 0)
    isOver.current = false
    setReading(false)
  }
  return { ref, isReading, stop }
}
