import './faults.css'
import { useEffect, useState } from 'preact/hooks'
import type { FaultRule, Latency, LatencySetting, NewFaultRule } from '../../../client/index.js'
import { Chip, toneClass } from '../../parts/chip.js'
import { ErrorNote } from '../../parts/errors.js'
import { Icon } from '../../parts/icon.js'
import { JsonDialog } from '../../parts/json-form.js'
import { Scroll } from '../../parts/pane.js'
import { Popover } from '../../parts/popover.js'
import { useResource } from '../../parts/resource.js'
import { durationText } from '../../parts/times.js'
import { useLive } from '../../shell/live.js'
import { useCommands } from '../../shell/palette.js'
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
const EFFECTS: Record<string, NewFaultRule['effect']> = {
  '500': { status: 500 },
  '503': { status: 503, headers: { 'retry-after': '1' } },
  '429': { status: 429 },
  Timeout: { delay: 60_000 },
  Reset: { abort: 'reset' },
  'Cut off': { abort: 'truncate' },
  'Lost answer': { lostAnswer: true }
}

/** How often. */
const TIMES: Record<string, FaultRule['times']> = { once: 1, twice: 2, always: 'always' }

/** The presets of the server, and what is asked for most. */
const LATENCIES: Record<string, LatencySetting> = {
  None: { preset: 'none' },
  Office: { preset: 'office' },
  Mobile: { preset: 'mobile' },
  Bad: { preset: 'bad' },
  '500 ms': { delay: 500, spread: 0 },
  '2 s': { delay: 2000, spread: 0 }
}

const NONE: Latency = { delay: 0, spread: 0 }

/** The rules and the latency of the environment. */
function useFaults() {
  const { env, latest } = useSession()
  const live = useLive()
  const load = async () => ({ rules: await env.faults.list(), latency: await env.latency.get() })
  const { value, error, reload } = useResource(load, [env, latest])
  useEffect(() => {
    return live.subscribe((came) => came.some(({ flags }) => flags.faulted !== undefined) && reload())
  }, [live, reload])
  return { rules: [], latency: NONE, ...value, error, reload }
}

type Faults = ReturnType<typeof useFaults>

/** Whether a rule does nothing any more. */
function isUsedUp({ times, hits }: FaultRule): boolean {
  return times !== 'always' && hits >= times
}

/** What goes wrong on purpose, in the bar. */
export function FaultsPopover() {
  const { env } = useSession()
  const act = useAct()
  const faults = useFaults()
  const { rules, latency } = faults
  const slow = latency.delay + latency.spread > 0 ? 1 : 0
  const count = rules.filter((rule) => !isUsedUp(rule)).length + slow
  const noun = count === 1 ? 'fault' : 'faults'
  useCommands([{ name: 'Remove all faults', run: () => act(env.faults.clear, 'All faults are removed') }])
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

function FaultPanel({ rules, latency, error, reload }: Faults) {
  const { env, changed } = useSession()
  const act = useAct()
  const [target, setTarget] = useState('List messages')
  const [often, setOften] = useState('once')
  const [isWriting, setWriting] = useState(false)
  const write = async (rule: object) => {
    // The server checks it.
    await env.faults.add(rule as NewFaultRule)
    changed()
  }
  const fail = (name: string, effect: NewFaultRule['effect']) => {
    const operation = OPERATIONS[target]
    const rule = { ...(operation && { operation }), times: TIMES[often] ?? 1, effect }
    const undo = ({ id }: FaultRule) => env.faults.remove(id)
    return act(() => env.faults.add(rule), `${target}: ${name}, ${often}`, undo)
  }
  const slow = (name: string) => act(() => env.latency.set(LATENCIES[name] ?? {}), `Latency: ${name}`)
  const choices = (values: object, choose: (name: string) => unknown) =>
    Object.keys(values).map((name) => ({ name, run: () => choose(name) }))
  const { preset, delay, spread } = latency
  const average = spread > 0 && ` or more, ${durationText(delay + spread)} on average`
  return (
    <div class="faults">
      {error !== undefined && <ErrorNote error={error} retry={reload} />}
      {rules.length > 0 && <Rules rules={rules} />}
      <section class="form">
        <h2 class="section">Have them fail</h2>
        <Actions label="Which requests" actions={choices(OPERATIONS, setTarget)} current={target} />
        <Actions label="How often" actions={choices(TIMES, setOften)} current={often} />
        <Actions
          label="With what"
          actions={[
            ...Object.entries(EFFECTS).map(([name, effect]) => ({ name, run: () => fail(name, effect) })),
            { name: 'A rule as JSON…', run: () => setWriting(true) }
          ]}
        />
      </section>
      <section class="form">
        <h2 class="section">
          Latency{delay + spread > 0 && `: each answer comes later by ${durationText(delay)}`}
          {average}
        </h2>
        <Actions
          label="Latency"
          actions={choices(LATENCIES, slow)}
          current={nameIn(LATENCIES, preset ? { preset } : { delay, spread })}
        />
      </section>
      {isWriting && (
        <JsonDialog
          title="A fault rule"
          value={{ operation: 'listMessages', match: { query: {} }, times: 1, effect: { status: 500 } }}
          button="Add the rule"
          submit={write}
          close={() => setWriting(false)}
        />
      )}
    </div>
  )
}

function Rules({ rules }: { rules: readonly FaultRule[] }) {
  const { env } = useSession()
  const act = useAct()
  return (
    <section class="form">
      <div class="line">
        <h2 class="section">Faults, the first that applies is taken</h2>
        <button type="button" class="quiet spread" onClick={() => act(env.faults.clear, 'All faults are removed')}>
          Remove all
        </button>
      </div>
      {rules.map((rule) => (
        <div key={rule.id} class="rule">
          <Chip tone={isUsedUp(rule) ? undefined : 'fault'}>{isUsedUp(rule) ? 'done' : 'on'}</Chip>
          <div dir="auto">
            <b>{nameIn(EFFECTS, rule.effect)}</b>
            <p class="hint">{ruleWords(rule)}</p>
          </div>
          <button
            type="button"
            class="quiet only-icon"
            aria-label={`Remove ${rule.id}`}
            onClick={() => act(() => env.faults.remove(rule.id), `Removed ${rule.id}`)}
          >
            <Icon name="close" />
          </button>
        </div>
      ))}
    </section>
  )
}

/** Returns which requests a rule is for, how often, how many it has met, and its other conditions as JSON. */
function ruleWords({ id, operation, times, hits, match, ...rest }: FaultRule): string {
  const after = rest.after || undefined
  const every = rest.every > 1 ? rest.every : undefined
  const probability = rest.probability < 1 ? rest.probability : undefined
  const json = JSON.stringify({ match, after, every, probability }).replace('{}', '')
  const met = `met ${hits.toLocaleString()} ${hits === 1 ? 'request' : 'requests'}`
  return `${nameIn(OPERATIONS, operation)}, ${nameIn(TIMES, times)} · ${met} · ${id} ${json}`
}

/** Returns by what name a value is chosen here, else the value. */
function nameIn(values: Record<string, unknown>, value: unknown): string {
  const json = JSON.stringify(value)
  return Object.keys(values).find((name) => JSON.stringify(values[name]) === json) ?? json
}
