import { useEffect, useState } from 'preact/hooks'
import type { FaultRule, Latency, NewFaultRule } from '../../../client/index.js'
import { Callout, toneClass } from '../../parts/chip.js'
import { formatDuration } from '../../parts/format-time.js'
import { Icon } from '../../parts/icon.js'
import { JsonDialog } from '../../parts/json-dialog.js'
import { Popover } from '../../parts/popover.js'
import { useResource } from '../../parts/resource.js'
import { LoadError } from '../../shell/connection-note.js'
import { useLive } from '../../shell/live-provider.js'
import { useSession } from '../../shell/session.js'
import { ActionButtons } from '../actions.js'
import {
  describeRule,
  EFFECTS,
  isUsedUp,
  LATENCIES,
  nameOf,
  OPERATIONS,
  settingOf,
  TIMES,
  useAddFault,
  useSetLatency
} from './fault-choices.js'
import { useFaultCommands, useRemoveRules } from './fault-commands.js'

const NO_LATENCY: Latency = { delay: 0, spread: 0 }

/** The button in the top bar that opens the panel for faults and latency. */
export function FaultsPopover() {
  const { value, error, reload } = useFaults()
  const { rules = [], latency = NO_LATENCY } = value ?? {}
  useFaultCommands(rules)
  const count = rules.filter((rule) => !isUsedUp(rule)).length
  const noun = count === 1 ? 'fault' : 'faults'
  const latencyText = hasDelay(latency) ? `latency ${describeDelay(latency)}` : ''
  const tone = latencyText ? 'warn' : undefined
  const button = [
    <Icon key="icon" name="bolt" />,
    count > 0 && <span key="count">{count}</span>,
    <span key="noun" class="text">
      {[count > 0 || !latencyText ? noun : '', latencyText].filter(Boolean).join(' · ')}
    </span>
  ]
  return (
    <Popover
      class={`quiet toned ${toneClass(count > 0 ? 'fault' : tone)}`}
      label={[`${count} ${noun}`, latencyText].filter(Boolean).join(', ')}
      title="Make requests fail or slow them down"
      isPadded
      button={button}
    >
      {() => (
        <div class="form">
          <LoadError error={error} retry={reload} />
          <RuleList rules={rules} />
          <NewFault />
          <LatencyChoice latency={latency} />
        </div>
      )}
    </Popover>
  )
}

/** Loads the fault rules and the latency. Reloads them when a rule has applied to a request. */
function useFaults() {
  const { env, settingsVersion } = useSession()
  const live = useLive()
  const resource = useResource(
    async () => ({ rules: await env.faults.list(), latency: await env.latency.get() }),
    [env, settingsVersion]
  )
  const { reload } = resource
  useEffect(
    () =>
      live.subscribe((requests) => {
        if (requests.some(({ flags }) => flags.faulted !== undefined)) reload()
      }),
    [live, reload]
  )
  return resource
}

/** Returns the latency's name or, for a custom latency, its average. */
const describeDelay = ({ preset, delay, spread }: Latency) =>
  preset ?? formatDuration(delay + spread)

const hasDelay = ({ delay, spread }: Latency) => delay + spread > 0

function LatencyChoice({ latency }: { latency: Latency }) {
  const setLatency = useSetLatency()
  return (
    <section class="form">
      <h2 class="section">{describeLatency(latency)}</h2>
      <ActionButtons
        label="Latency"
        actions={choicesOf(LATENCIES, setLatency)}
        current={nameOf(LATENCIES, settingOf(latency))}
      />
    </section>
  )
}

function describeLatency(latency: Latency): string {
  if (!hasDelay(latency)) return 'Latency'
  const { delay, spread } = latency
  const delayText = formatDuration(delay)
  if (spread === 0) return `Latency: each response is delayed by ${delayText}`
  const average = formatDuration(delay + spread)
  return `Latency: each response is delayed by at least ${delayText}, ${average} on average`
}

/** Lists the rules, each with a Remove button. */
function RuleList({ rules }: { rules: readonly FaultRule[] }) {
  const removeRules = useRemoveRules()
  const removeAll = { name: 'Remove all', run: () => removeRules(rules, 'Removed all faults') }
  return (
    <>
      {rules.map((rule) => {
        const remove = () => removeRules([rule], `Removed ${rule.id}`)
        return (
          <Callout key={rule.id} tone={isUsedUp(rule) ? undefined : 'fault'}>
            <span dir="auto">{describeRule(rule)}</span>
            <ActionButtons actions={[{ name: `Remove ${rule.id}`, run: remove }]} />
          </Callout>
        )
      })}
      {rules.length > 0 && <ActionButtons actions={[removeAll]} />}
    </>
  )
}

const RULE_TEMPLATE = {
  operation: 'listMessages',
  match: { query: {} },
  times: 1,
  effect: { status: 500 }
}

/** A form that adds a rule, with buttons for the most common rules. */
function NewFault() {
  const { env, reloadAll } = useSession()
  const addFault = useAddFault()
  const [target, setTarget] = useState('List messages')
  const [times, setTimes] = useState('once')
  const [isWriting, setWriting] = useState(false)
  const fail = (effect: string) =>
    addFault({ operation: OPERATIONS[target] }, effect, times, target)
  const submit = async (rule: object) => {
    // The server validates the rule.
    await env.faults.add(rule as NewFaultRule)
    reloadAll()
  }
  return (
    <section class="form">
      <h2 class="section">Make requests fail</h2>
      <ActionButtons
        label="Which requests"
        actions={choicesOf(OPERATIONS, setTarget)}
        current={target}
      />
      <ActionButtons label="How often" actions={choicesOf(TIMES, setTimes)} current={times} />
      <ActionButtons label="Effect" actions={choicesOf(EFFECTS, fail)} />
      <ActionButtons actions={[{ name: 'Write a rule as JSON…', run: () => setWriting(true) }]} />
      {isWriting && (
        <JsonDialog
          title="New fault rule"
          value={RULE_TEMPLATE}
          button="Add the rule"
          submit={submit}
          close={() => setWriting(false)}
        />
      )}
    </section>
  )
}

const choicesOf = (choices: object, choose: (name: string) => unknown) =>
  Object.keys(choices).map((name) => ({ name, run: () => choose(name) }))
