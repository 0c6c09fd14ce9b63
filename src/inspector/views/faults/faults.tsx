import './faults.css'
import { useId, useState } from 'preact/hooks'
import type { FaultRule, NewFaultRule } from '../../../client/index.js'
import { Chip, toneClass } from '../../parts/chip.js'
import { ErrorNote } from '../../parts/errors.js'
import { Icon } from '../../parts/icon.js'
import { JsonDialog } from '../../parts/json-form.js'
import { Pane, Panes, Scroll } from '../../parts/pane.js'
import { Popover } from '../../parts/popover.js'
import { useSession } from '../../shell/session.js'
import { EFFECTS, LATENCIES, latencyWords, OPERATIONS, TIMES, useFaultActions } from './actions.js'
import { delayOf, rulesOn, useFaultState } from './state.js'
import { effectWords, isUsedUp, matchWords, timesWords } from './words.js'

/** What goes wrong on purpose, in the bar. */
export function FaultsPopover() {
  const { faults, latency } = useFaultState()
  const count = rulesOn(faults).length + (delayOf(latency) > 0 ? 1 : 0)
  const [isWriting, setWriting] = useState(false)
  const words = count === 1 ? '1 fault' : `${count} faults`
  const button = (
    <>
      <Icon name="bolt" />
      {count > 0 && <span>{count}</span>}
      <span class="text">{count === 1 ? 'fault' : 'faults'}</span>
    </>
  )
  const classes = `quiet toned ${toneClass(count > 0 ? 'fault' : undefined)}`
  return (
    <>
      <Popover class={classes} label={words} title="Have requests fail, or be slow" isPadded button={button}>
        {(close) => (
          <FaultPanel
            write={() => {
              close()
              setWriting(true)
            }}
          />
        )}
      </Popover>
      {isWriting && <WriteRule close={() => setWriting(false)} />}
    </>
  )
}

/** The same as a view of its own. */
export function FaultsView() {
  const [isWriting, setWriting] = useState(false)
  return (
    <div class="view">
      <h1 class="visually-hidden">Faults</h1>
      <Panes isOpen={false}>
        <Pane label="Faults">
          <Scroll>
            <FaultPanel write={() => setWriting(true)} />
          </Scroll>
        </Pane>
      </Panes>
      {isWriting && <WriteRule close={() => setWriting(false)} />}
    </div>
  )
}

function FaultPanel({ write }: { write: () => void }) {
  const { faults } = useFaultState()
  const { isBusy, add, clear } = useFaultActions()
  const [operation, setOperation] = useState(OPERATIONS[1]?.[0])
  const id = useId()
  const rules = faults.value ?? []
  const [, target = ''] = OPERATIONS.find(([each]) => each === operation) ?? []
  return (
    <div class="faults">
      {faults.error !== undefined && <ErrorNote error={faults.error} retry={faults.reload} />}
      {rules.length > 0 && (
        <section class="form" aria-labelledby={`${id}-rules`}>
          <div class="line">
            <h2 class="section" id={`${id}-rules`}>
              Faults, the first that applies is taken
            </h2>
            <button type="button" class="quiet spread" disabled={isBusy} onClick={clear}>
              Remove all
            </button>
          </div>
          <ol>
            {rules.map((rule) => (
              <Rule key={rule.id} rule={rule} />
            ))}
          </ol>
        </section>
      )}
      <section class="form" aria-labelledby={`${id}-fail`}>
        <h2 class="section" id={`${id}-fail`}>
          Have them fail
        </h2>
        <div class="line" role="group" aria-label="Which requests">
          {OPERATIONS.map(([each, words]) => (
            <button key={words} type="button" aria-pressed={each === operation} onClick={() => setOperation(each)}>
              {words}
            </button>
          ))}
        </div>
        <table class="fail">
          <tbody>
            {EFFECTS.map(([name, effect, hint]) => (
              <tr key={name} title={hint}>
                <th scope="row">{name}</th>
                {TIMES.map(([times, words]) => (
                  <td key={words}>
                    <button
                      type="button"
                      aria-label={`${name} ${words}`}
                      disabled={isBusy}
                      onClick={() =>
                        add({ ...(operation && { operation }), times, effect }, `${target}: ${name}, ${words}`)
                      }
                    >
                      {words}
                    </button>
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
        <button type="button" class="write" onClick={write}>
          Write a rule as JSON…
        </button>
      </section>
      <Slow />
    </div>
  )
}

/** How slow the answers are. */
function Slow() {
  const { latency } = useFaultState()
  const { isBusy, setLatency } = useFaultActions()
  const id = useId()
  const { preset, delay = 0, spread = 0 } = latency.value ?? {}
  return (
    <section class="form" aria-labelledby={id}>
      <h2 class="section" id={id}>
        Latency{delay + spread > 0 && `: each answer comes ${latencyWords(delay, spread)}`}
      </h2>
      {latency.error !== undefined && <ErrorNote error={latency.error} retry={latency.reload} />}
      <div class="line" role="group" aria-label="Latency">
        {LATENCIES.map(([name, setting, hint]) => {
          const isOn = typeof setting === 'string' ? preset === setting : !preset && setting.delay === delay
          return (
            <button
              key={name}
              type="button"
              title={hint}
              aria-pressed={isOn}
              disabled={isBusy}
              onClick={() => setLatency(setting, name)}
            >
              {name}
            </button>
          )
        })}
      </div>
    </section>
  )
}

function Rule({ rule }: { rule: FaultRule }) {
  const { isBusy, remove } = useFaultActions()
  const { id, operation, hits } = rule
  const conditions = matchWords(rule).join(', ')
  return (
    <li class="rule">
      <Chip tone={isUsedUp(rule) ? undefined : 'fault'}>{isUsedUp(rule) ? 'done' : 'on'}</Chip>
      <div>
        <b dir="auto">{effectWords(rule.effect)}</b>
        <p class="hint" dir="auto">
          {OPERATIONS.find(([each]) => each === operation)?.[1] ?? operation}
          {conditions && ` with ${conditions}`}, {timesWords(rule)} · met {hits.toLocaleString()}{' '}
          {hits === 1 ? 'request' : 'requests'} · {id}
        </p>
      </div>
      <button
        type="button"
        class="quiet only-icon"
        aria-label={`Remove ${id}`}
        disabled={isBusy}
        onClick={() => remove(id)}
      >
        <Icon name="close" />
      </button>
    </li>
  )
}

/** A rule with all that rules can have. */
function WriteRule({ close }: { close: () => void }) {
  const { env, changed } = useSession()
  const value = { operation: 'listMessages', match: { query: {} }, times: 1, effect: { status: 500 } }
  const add = async (rule: object) => {
    // The server checks it.
    await env.faults.add(rule as NewFaultRule)
    changed()
  }
  return <JsonDialog title="A fault rule" value={value} button="Add the rule" submit={add} close={close} />
}
