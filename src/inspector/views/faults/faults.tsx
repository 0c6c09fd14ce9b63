import { useEffect, useState } from 'preact/hooks'
import type { FaultRule, Latency, LatencySetting, NewFaultRule } from '../../../client/index.js'
import { Callout, toneClass } from '../../parts/chip.js'
import { ErrorNote } from '../../parts/errors.js'
import { Icon } from '../../parts/icon.js'
import { JsonDialog } from '../../parts/json-form.js'
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
  'Lost answer': { lostResponse: true }
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

/** Whether a rule does nothing any more. */
const isUsedUp = ({ times, hits }: FaultRule) => times !== 'always' && hits >= times

/** What goes wrong on purpose, in the bar. */
export function FaultsPopover() {
  const { env, version } = useSession()
  const live = useLive()
  const act = useAct()
  const load = async () => ({ rules: await env.faults.list(), latency: await env.latency.get() })
  const { value, error, reload } = useResource(load, [env, version])
  useEffect(() => {
    return live.subscribe(
      (came) => came.some(({ flags }) => flags.faulted !== undefined) && reload()
    )
  }, [live, reload])
  const { rules = [], latency = { delay: 0, spread: 0 } as Latency } = value ?? {}
  const { preset, delay, spread } = latency
  const setting = preset ? { preset } : { delay, spread }
  const undo = () => env.latency.set(setting)
  const slow = (name: string) =>
    act(() => env.latency.set(LATENCIES[name] ?? {}), `Latency: ${name}`, undo)
  const later = delay + spread > 0 ? `: each answer comes later by ${durationText(delay)}` : ''
  const more = spread > 0 ? ` or more, ${durationText(delay + spread)} on average` : ''
  const count = rules.filter((rule) => !isUsedUp(rule)).length + (later ? 1 : 0)
  const noun = count === 1 ? 'fault' : 'faults'
  const texts = [
    count > 0 && <span key="count">{count}</span>,
    <span key="noun" class="text">
      {noun}
    </span>
  ]
  const button = [<Icon key="icon" name="bolt" />, texts]
  const classes = `quiet toned ${toneClass(count > 0 ? 'fault' : undefined)}`
  return (
    <Popover
      class={classes}
      label={`${count} ${noun}`}
      title="Have requests fail, or be slow"
      isPadded
      button={button}
    >
      {() => (
        <div class="form">
          {error !== undefined && <ErrorNote error={error} retry={reload} />}
          <Rules rules={rules} />
          <section class="form">
            <h2 class="section">{`Latency${later}${more}`}</h2>
            <Actions
              label="Latency"
              actions={choices(LATENCIES, slow)}
              current={nameIn(LATENCIES, setting)}
            />
          </section>
        </div>
      )}
    </Popover>
  )
}

/** The rules that there are, and what adds one. */
function Rules({ rules }: { rules: readonly FaultRule[] }) {
  const { env, changed } = useSession()
  const act = useAct()
  const [target, setTarget] = useState('List messages')
  const [often, setOften] = useState('once')
  const [isWriting, setWriting] = useState(false)
  const fail = (name: string) => {
    const rule = {
      operation: OPERATIONS[target],
      times: TIMES[often],
      effect: EFFECTS[name]
    } as NewFaultRule
    const undo = ({ id }: FaultRule) => env.faults.remove(id)
    return act(() => env.faults.add(rule), `${target}: ${name}, ${often}`, undo)
  }
  const remove = (gone: readonly FaultRule[], done: string) => {
    const addAgain = async () => {
      for (const { id: _id, seen: _seen, hits, times, ...rule } of gone.filter(
        (each) => !isUsedUp(each)
      ))
        await env.faults.add({ ...rule, times: times === 'always' ? times : times - hits })
    }
    return act(() => Promise.all(gone.map(({ id }) => env.faults.remove(id))), done, addAgain)
  }
  // The server checks it.
  const write = (rule: object) => env.faults.add(rule as NewFaultRule).then(changed)
  const written = {
    operation: 'listMessages',
    match: { query: {} },
    times: 1,
    effect: { status: 500 }
  }
  const dialog = { title: 'A fault rule', value: written, button: 'Add the rule', submit: write }
  const all = { name: 'Remove all', run: () => remove(rules, 'All faults are removed') }
  return (
    <>
      {rules.map((rule) => (
        <Callout key={rule.id} tone={isUsedUp(rule) ? undefined : 'fault'}>
          <span dir="auto">{ruleWords(rule)}</span>
          <Actions
            actions={[
              { name: `Remove ${rule.id}`, run: () => remove([rule], `Removed ${rule.id}`) }
            ]}
          />
        </Callout>
      ))}
      {rules.length > 0 && <Actions actions={[all]} />}
      <section class="form">
        <h2 class="section">Have them fail</h2>
        <Actions label="Which requests" actions={choices(OPERATIONS, setTarget)} current={target} />
        <Actions label="How often" actions={choices(TIMES, setOften)} current={often} />
        <Actions label="With what" actions={choices(EFFECTS, fail)} />
        <Actions actions={[{ name: 'A rule as JSON…', run: () => setWriting(true) }]} />
      </section>
      {isWriting && <JsonDialog {...dialog} close={() => setWriting(false)} />}
    </>
  )
}

const choices = (values: object, choose: (name: string) => unknown) =>
  Object.keys(values).map((name) => ({ name, run: () => choose(name) }))

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
