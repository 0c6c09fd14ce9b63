import { useState } from 'preact/hooks'
import type { ResetPart, ResetResult } from '../../../client/index.js'
import { Dialog } from '../../parts/dialog.js'
import { type PanelProps, useAction } from '../panel.js'
import { useSession } from '../session.js'

const PARTS: Record<ResetPart, string> = {
  data: 'Data: integrations, messages, subscribers, workflows, the profile and its assumptions',
  requests: 'Recorded requests',
  faults: 'Faults and latency',
  clock: 'Clock and random values',
  idempotency: 'Stored idempotency keys'
}
const ALL = Object.keys(PARTS) as ResetPart[]

/** Goes back to the state in which the environment was created or seeded. */
export function ResetPanel({ close, reload }: PanelProps) {
  const { env, listed } = useSession()
  const { act, isRunning } = useAction({ reload })
  const [parts, setParts] = useState<readonly ResetPart[]>(ALL)
  const reset = async () => {
    const result = await act(() => env.reset({ parts: [...parts] }), resetText(listed?.name))
    if (result) close()
  }
  return (
    <Dialog title="Back to the start" close={close}>
      <p>
        What of <b dir="auto">{listed?.name ?? 'this environment'}</b> goes back to the state in which it was created or
        seeded last:
      </p>
      <form
        class="choices"
        onSubmit={(event) => {
          event.preventDefault()
          reset()
        }}
      >
        {ALL.map((part) => (
          <label key={part} class="inline">
            <input
              type="checkbox"
              checked={parts.includes(part)}
              onChange={(event) =>
                setParts(ALL.filter((each) => (each === part ? event.currentTarget.checked : parts.includes(each))))
              }
            />
            {PARTS[part]}
          </label>
        ))}
        <p class="hint">Snapshots stay. A snapshot taken before keeps what is there now.</p>
        <button type="submit" disabled={isRunning || parts.length === 0}>
          {parts.length === ALL.length ? 'Reset everything' : 'Reset these'}
        </button>
      </form>
    </Dialog>
  )
}

/** Returns what tells of a reset. It names the environment, as one may look at another before the notice is gone. */
export function resetText(name = 'this environment'): (result: ResetResult) => string {
  return ({ parts }) => `Back at the start: ${parts.length === ALL.length ? 'everything' : parts.join(', ')} of ${name}`
}
