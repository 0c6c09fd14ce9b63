import type { ComponentChildren } from 'preact'
import { createContext } from 'preact'
import { useCallback, useContext, useEffect, useId, useMemo, useRef, useState } from 'preact/hooks'
import { messageOf } from './errors.js'
import { Icon } from './icon.js'

/** Tells the person what an action has done. */
export interface Toasts {
  /** Tells it, with a link to more of it, or a button such as Undo. */
  tell(text: string, more?: ToastLink | ToastButton): void
  /** Tells it until the button is pressed, or what is returned is called. */
  offer(text: string, button: ToastButton): () => void
  /** Runs an action and tells what came of it. Returns its result, or undefined if it failed. */
  run<Result>(action: () => Promise<Result>, done?: string): Promise<Result | undefined>
}

export interface ToastLink {
  href: string
  text: string
}

export interface ToastButton {
  name: string
  run(): unknown
}

interface Toast {
  id: number
  text: string
  isBad?: boolean
  more?: ToastLink | ToastButton | undefined
}

interface Shown {
  toasts: readonly Toast[]
  remove(id: number): void
  /** The dialogs that are open, the topmost last. */
  dialogs: readonly string[]
  /** Tells of an open dialog. Returns what tells that it is closed. */
  addDialog(id: string): () => void
}

const ToastsContext = createContext<Toasts>({ tell() {}, offer: () => () => {}, run: async () => undefined })
const ShownContext = createContext<Shown>({ toasts: [], remove() {}, dialogs: [], addDialog: () => () => {} })

export function useToasts(): Toasts {
  return useContext(ToastsContext)
}

/** How long a toast stays, in milliseconds; one with a button longer, as it is to be decided on. */
const STAY = 6000
const STAY_WITH_BUTTON = 15_000

export function ToastProvider({ children }: { children: ComponentChildren }) {
  const [toasts, setToasts] = useState<Toast[]>([])
  const [dialogs, setDialogs] = useState<readonly string[]>([])
  const count = useRef(0)
  const remove = useCallback((id: number) => setToasts((all) => all.filter((each) => each.id !== id)), [])
  const addDialog = useCallback((id: string) => {
    setDialogs((all) => [...all, id])
    return () => setDialogs((all) => all.filter((each) => each !== id))
  }, [])
  const value = useMemo<Toasts>(() => {
    const add = (toast: Omit<Toast, 'id'>, stay?: number) => {
      const id = ++count.current
      setToasts((all) => [...all.slice(-3), { ...toast, id }])
      if (stay !== undefined) setTimeout(remove, stay, id)
      return () => remove(id)
    }
    return {
      tell: (text, more) => void add({ text, more }, more && 'run' in more ? STAY_WITH_BUTTON : STAY),
      offer: (text, more) => add({ text, more }),
      async run(action, done) {
        try {
          const result = await action()
          if (done !== undefined) add({ text: done }, STAY)
          return result
        } catch (error) {
          add({ text: messageOf(error), isBad: true })
          return undefined
        }
      }
    }
  }, [remove])
  return (
    <ToastsContext.Provider value={value}>
      <ShownContext.Provider value={{ toasts, remove, dialogs, addDialog }}>
        {children}
        {dialogs.length === 0 && <ToastList />}
      </ShownContext.Provider>
    </ToastsContext.Provider>
  )
}

/** The toasts while a dialog is the topmost one: nothing outside of it can be read or clicked then. */
export function ToastsInDialog() {
  const { dialogs, addDialog } = useContext(ShownContext)
  const id = useId()
  useEffect(() => addDialog(id), [addDialog, id])
  return dialogs.at(-1) === id ? <ToastList /> : null
}

function ToastList() {
  const { toasts, remove } = useContext(ShownContext)
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.map(({ id, text, isBad, more }) => (
        <div key={id} class={isBad ? 'toast is-bad' : 'toast'}>
          <span dir="auto">{text}</span>
          {more && 'href' in more && (
            <a class="button quiet" href={more.href} onClick={() => remove(id)}>
              {more.text}
            </a>
          )}
          {more && 'run' in more && (
            <button
              type="button"
              class="quiet action"
              onClick={() => {
                remove(id)
                more.run()
              }}
            >
              {more.name}
            </button>
          )}
          <button type="button" class="quiet only-icon" aria-label="Dismiss" onClick={() => remove(id)}>
            <Icon name="close" />
          </button>
        </div>
      ))}
    </div>
  )
}
