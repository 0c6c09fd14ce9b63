import './faults.css'
import { useEffect, useState } from 'preact/hooks'
import type { FaultRule, Latency, LatencySetting, NewFaultRule } from '../../../client/index.js'
import { Callout, toneClass } from '../../parts/chip.js'
import { ErrorNote } from '../../parts/errors.js'
import { Icon } from '../../parts/icon.js'
import { JsonDialog } from '../../parts/json-form.js'
import { Scroll } from '../../parts/pane.js'
import { Popover } from '../../parts/popover.js'
import { useResource } from '../../parts/resource.js'
import { durationText } from '../../parts/times.js'
import { useLive } from '../../shell/live.js'
import { useSession } from '../../shell/session.js'
import { Actions, useAct } from '../acts.js'

/** Which requests, by the words that they are told by. */
const OPERATIONS: Record<string, NewFaultRule['operation']> = {
  'Any request': undefined,
  'List messages': 'listMessages',
  'Set primary': 'setIntegrationAsPrimary',
  'Get step': 'retrieveWorkflowStep'
}

/** What the app meets, by its name. */
export const EFFECTS: Record<string, NewFaultRule['effect']> = {
  '500': { status: 500 },
  '503': { status: 503, headers: { 'retry-after': '1' } },
  '429': { status: 429 },
  Timeout: { delay: 60_000 },
  Reset: { abort: 'reset' },
  'Cut off': { abort: 'truncate' },
  'Lost answer': { lostAnswer: true }
}

/** How often. */
export const TIMES: Record<string, FaultRule['times']> = { once: 1, twice: 2, always: 'always' }

/** The presets of the server, and what is asked for most. */
const LATENCIES: Record<string, LatencySetting> = {
  None: { preset: 'none' },
  Office: { preset: 'office' },
  Mobile: { preset: 'mobile' },
  Bad: { preset: 'bad' },
  '500 ms': { delay: 500, spread: 0 },
  '2 s': { delay: 2000, spread: 0 }
}

/** The rules and the latency of the environment. */
function useFaults() {
  const { env, version } = useSession()
  const live = useLive()
  const load = async () => ({ rules: await env.faults.list(), latency: await env.latency.get() })
  const { value, error, reload } = useResource(load, [env, version])
  useEffect(() => {
    return live.subscribe((came) => came.some(({ flags }) => flags.faulted !== undefined) && reload())
  }, [live, reload])
  const { rules = [], latency = { delay: 0, spread: 0 } as Latency } = value ?? {}
  return { rules, latency, error, reload }
}

/** Whether a rule does nothing any more. */
function isUsedUp({ times, hits }: FaultRule): boolean {
  return times !== 'always' && hits >= times
}

/** What goes wrong on purpose, in the bar. */
export function FaultsPopover() {
  const faults = useFaults()
  const { rules, latency } = faults
  const slow = latency.delay + latency.spread > 0 ? 1 : 0
  const count = rules.filter((rule) => !isUsedUp(rule)).length + slow
  const noun = count === 1 ? 'fault' : 'faults'
  const button = (
    <>
      <Icon name="bolt" />
      {count > 0 && <span>{count}</span>}
      <span class="text">{noun}</span>
    </>
  )
  const classes = `quiet toned ${toneClass(count > 0 ? 'fault' : undefined)}`
  return (
    <Popover class={classes} label={`${count} ${noun}`} title="Have requests fail, or be slow" isPadded button={button}>
      {() => <FaultPanel {...faults} />}
    </Popover>
  )
}

/** The same as a view of its own. */
export function FaultsView() {
  const faults = useFaults()
  return (
    <div class="view">
      <h1 class="visually-hidden">Faults</h1>
      <Scroll>
        <FaultPanel {...faults} />
      </Scroll>
    </div>
  )
}

function FaultPanel({ rules, latency, error, reload }: ReturnType<typeof useFaults>) {
  const { env, changed } = useSession()
  const act = useAct()
  const [target, setTarget] = useState('List messages')
  const [often, setOften] = useState('once')
  const [isWriting, setWriting] = useState(false)
  // The server checks it.
  const write = (rule: object) => env.faults.add(rule as NewFaultRule).then(changed)
  const fail = (name: string) => {
    const rule = { operation: OPERATIONS[target], times: TIMES[often], effect: EFFECTS[name] } as NewFaultRule
    const undo = ({ id }: FaultRule) => env.faults.remove(id)
    return act(() => env.faults.add(rule), `${target}: ${name}, ${often}`, undo)
  }
  const addAgain = async (removed: readonly FaultRule[]) => {
    for (const { id: _id, seen: _seen, hits: _hits, ...rule } of removed) await env.faults.add(rule)
  }
  const remove = (rule: FaultRule) =>
    act(
      () => env.faults.remove(rule.id),
      `Removed ${rule.id}`,
      () => addAgain([rule])
    )
  const clear = () => act(env.faults.clear, 'All faults are removed', () => addAgain(rules))
  const choices = (values: object, choose: (name: string) => unknown) =>
    Object.keys(values).map((name) => ({ name, run: () => choose(name) }))
  const { preset, delay, spread } = latency
  const setting = preset ? { preset } : { delay, spread }
  const slow = (name: string) =>
    act(
      () => env.latency.set(LATENCIES[name] ?? {}),
      `Latency: ${name}`,
      () => env.latency.set(setting)
    )
  const current = nameIn(LATENCIES, setting)
  const later = delay + spread > 0 ? `: each answer comes later by ${durationText(delay)}` : ''
  const more = spread > 0 ? ` or more, ${durationText(delay + spread)} on average` : ''
  const rule = { operation: 'listMessages', match: { query: {} }, times: 1, effect: { status: 500 } }
  const dialog = { title: 'A fault rule', value: rule, button: 'Add the rule', submit: write }
  return (
    <div class="faults">
      {error !== undefined && <ErrorNote error={error} retry={reload} />}
      {rules.map((rule) => (
        <Callout key={rule.id} tone={isUsedUp(rule) ? undefined : 'fault'}>
          <span dir="auto">{ruleWords(rule)}</span>
          <Actions actions={[{ name: `Remove ${rule.id}`, run: () => remove(rule) }]} />
        </Callout>
      ))}
      {rules.length > 0 && <Actions actions={[{ name: 'Remove all', run: clear }]} />}
      <section class="form">
        <h2 class="section">Have them fail</h2>
        <Actions label="Which requests" actions={choices(OPERATIONS, setTarget)} current={target} />
        <Actions label="How often" actions={choices(TIMES, setOften)} current={often} />
        <Actions label="With what" actions={choices(EFFECTS, fail)} />
        <Actions actions={[{ name: 'A rule as JSON…', run: () => setWriting(true) }]} />
      </section>
      <section class="form">
        <h2 class="section">{`Latency${later}${more}`}</h2>
        <Actions label="Latency" actions={choices(LATENCIES, slow)} current={current} />
      </section>
      {isWriting && <JsonDialog {...dialog} close={() => setWriting(false)} />}
    </div>
  )
}

/** Returns what a rule does to which requests, how many it has met, and its other conditions as JSON. */
function ruleWords(rule: FaultRule): string {
  const { operation, effect, match, times, hits } = rule
  const after = rule.after || undefined
  const every = rule.every > 1 ? rule.every : undefined
  const probability = rule.probability < 1 ? rule.probability : undefined
  const json = JSON.stringify({ match, after, every, probability }).replace(/^{}$/, '')
  const met = `met ${hits.toLocaleString()} ${hits === 1 ? 'request' : 'requests'}${isUsedUp(rule) ? ', done' : ''}`
  return `${nameIn(OPERATIONS, operation)}: ${nameIn(EFFECTS, effect)}, ${nameIn(TIMES, times)} ${json} · ${met}`
}

/** Returns by what name a value is chosen here, else the value. */
function nameIn(values: Record<string, unknown>, value: unknown): string {
  const json = JSON.stringify(value)
  return Object.keys(values).find((name) => JSON.stringify(values[name]) === json) ?? json
}
