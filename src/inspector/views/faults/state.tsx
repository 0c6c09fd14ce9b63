import { type ComponentChildren, createContext } from 'preact'
import { useContext, useEffect, useRef } from 'preact/hooks'
import type { FaultRule, Latency, RecordedRequest } from '../../../client/index.js'
import { type Resource, useResource } from '../../parts/resource.js'
import { useLive } from '../../shell/live.js'
import { useRoute } from '../../shell/router.js'
import { useSession } from '../../shell/session.js'
import { isUsedUp } from './words.js'

interface FaultState {
  faults: Resource<FaultRule[]>
  latency: Resource<Latency>
}

/** Milliseconds from a request until the state is loaded again, with all that came meanwhile: in the view, and elsewhere. */
const COUNTERS_AFTER = 300
const BADGE_AFTER = 1000

const FaultStateContext = createContext<FaultState | undefined>(undefined)

/** Keeps the rules and the latency of the environment, as every view tells whether there are some. */
export function FaultStateProvider({ children }: { children: ComponentChildren }) {
  const { env, version } = useSession()
  const isShown = useRoute().view === 'faults'
  const live = useLive()
  const faults = useResource(() => env.faults.list(), [env, version, isShown])
  const latency = useResource(() => env.latency.get(), [env, version, isShown])
  const isOn = useRef(false)
  isOn.current = rulesOn(faults).length > 0 || delayOf(latency) > 0
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const end = live.subscribe((came) => {
      // Elsewhere only what may have changed whether there are some.
      if (!isShown && !isOn.current && !came.some(isAffected)) return
      timer ??= setTimeout(
        () => {
          timer = undefined
          faults.reload()
          latency.reload()
        },
        isShown ? COUNTERS_AFTER : BADGE_AFTER
      )
    })
    return () => {
      end()
      clearTimeout(timer)
    }
  }, [live, isShown, faults.reload, latency.reload])
  return <FaultStateContext.Provider value={{ faults, latency }}>{children}</FaultStateContext.Provider>
}

/** The rules and the latency of the environment. */
export function useFaultState(): FaultState {
  const state = useContext(FaultStateContext)
  if (!state) throw new Error('there is no state of the faults here')
  return state
}

/** The rules that still apply. */
export function rulesOn({ value = [] }: FaultState['faults']): FaultRule[] {
  return value.filter((rule) => !isUsedUp(rule))
}

/** Milliseconds by which answers come later. */
export function delayOf({ value }: FaultState['latency']): number {
  return value ? value.delay + value.spread : 0
}

function isAffected({ flags: { faulted, delayed } }: RecordedRequest): boolean {
  return faulted !== undefined || delayed !== undefined
}
