import { useId } from 'preact/hooks'
import type { FaultRule } from '../../../client/index.js'
import { Dialog } from '../../parts/dialog.js'
import { useNotices } from '../../parts/notices.js'
import { SchemaForm } from '../../parts/schema-form.js'
import { addressOf, go } from '../../shell/router.js'
import { useSession } from '../../shell/session.js'
import { useFaultActions } from './actions.js'
import { ONE_CLICKS, OPERATIONS, ruleOf, switchedOn, type Target } from './one-click.js'

/** Faults with one click, for the requests that one has chosen: once, or as switches. */
export function OneClickCard({ rules, target }: { rules: readonly FaultRule[]; target: Target }) {
  const { isBusy, add, remove } = useFaultActions()
  const id = useId()
  const { operation, isAlways } = target
  const choose = (next: Partial<Target>) => {
    const { operation: wanted = '', isAlways: always } = { ...target, ...next }
    go(addressOf(['faults'], { operation: wanted, times: always ? 'always' : '' }), { replace: true })
  }
  return (
    <section class="card" aria-labelledby={id}>
      <div class="row">
        <h2 id={id}>With one click</h2>
        <select
          aria-label="Operation"
          value={operation ?? ''}
          onChange={({ currentTarget: { value } }) => choose({ operation: OPERATIONS.find((name) => name === value) })}
        >
          <option value="">Any operation</option>
          {OPERATIONS.map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
        <span class="row" role="group" aria-label="How often">
          <button type="button" aria-pressed={!isAlways} onClick={() => choose({ isAlways: false })}>
            Once
          </button>
          <button type="button" aria-pressed={isAlways} onClick={() => choose({ isAlways: true })}>
            Until switched off
          </button>
        </span>
      </div>
      <div class="fault-choices">
        {ONE_CLICKS.map((each) => {
          const on = switchedOn(rules, each, target)
          return (
            <button
              key={each.name}
              type="button"
              disabled={isBusy}
              aria-pressed={isAlways ? on !== undefined : undefined}
              onClick={() => (on ? remove(on) : add(ruleOf(each, target), each.name))}
            >
              <b>{each.name}</b>
              <span class="hint">{each.hint}</span>
            </button>
          )
        })}
      </div>
    </section>
  )
}

/** A rule with all that rules can have. */
export function AddRule({ close }: { close: () => void }) {
  const { env, changed } = useSession()
  const { tell } = useNotices()
  return (
    <Dialog title="Add a rule" close={close} wide>
      <SchemaForm
        operation="addFault"
        main={['operation', 'times', 'effect', 'match']}
        suggestions={{ times: ['1', 'always'] }}
        button="Add"
        submit={async ({ times, ...fields }) => {
          // Typed as text, as it may also be `always`.
          const wanted = typeof times === 'string' && /^\d+$/.test(times) ? Number(times) : times
          // The server checks it by the schema that the form is made from.
          const added = await env.faults.add({ ...fields, ...(wanted !== undefined && { times: wanted }) } as never)
          close()
          changed()
          tell(`Added ${added.id}`)
        }}
      />
    </Dialog>
  )
}
