import { useState } from 'preact/hooks'
import type { Integration } from '../../../client/index.js'
import { AnswerCard, reasonOf } from '../../parts/answer.js'
import { useNotices } from '../../parts/notices.js'
import { useCommands } from '../../shell/palette.js'
import { type Answer, useSession } from '../../shell/session.js'
import { maskSecrets } from './secrets.js'

interface Sent {
  answer: Answer
  headers: Record<string, string>
}

interface Props {
  integration: Integration & { _id: string }
  showsSecrets: boolean
}

/** Sends set-primary to the service, as a product does, and shows its answer. */
export function MakePrimary({ integration, showsSecrets }: Props) {
  const { call, changed } = useSession()
  const { run, tell } = useNotices()
  const [withKey, setWithKey] = useState(false)
  const [sent, setSent] = useState<Sent>()
  const [isBusy, setBusy] = useState(false)
  const path = `/v1/integrations/${encodeURIComponent(integration._id)}/set-primary`
  const send = async (headers: Record<string, string>) => {
    setBusy(true)
    const answer = await run(() => call('POST', path, { headers }))
    setBusy(false)
    if (!answer) return
    setSent({ answer, headers })
    changed()
    tell(
      answer.status < 300
        ? `${integration.name} is the primary integration of ${integration.channel}`
        : `Answered with ${answer.status}: ${reasonOf(answer) ?? 'it does not say why'}`
    )
  }
  const sendAnew = () => send(withKey ? { 'idempotency-key': freshKey() } : {})
  useCommands([{ name: `Make ${integration.name} primary`, run: sendAnew }])
  return (
    <>
      <div class="card">
        <div class="row">
          <button type="button" class="primary" disabled={isBusy} onClick={sendAnew}>
            Make primary
          </button>
          <label class="inline">
            <input type="checkbox" checked={withKey} onChange={(event) => setWithKey(event.currentTarget.checked)} />
            with a fresh idempotency key
          </label>
          {sent && (
            <button type="button" disabled={isBusy} onClick={() => send(sent.headers)}>
              Send the same again
            </button>
          )}
        </div>
        <p class="hint">
          Sends <code>POST {path}</code> to the service, as your product would.
        </p>
      </div>
      {sent && (
        <AnswerCard
          answer={sent.answer}
          headers={sent.headers}
          body={showsSecrets ? undefined : maskSecrets(sent.answer.json ?? sent.answer.text)}
        />
      )}
    </>
  )
}

/** Not `crypto.randomUUID`, which pages have only when they come by https or from this machine. */
function freshKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(8))
  return `inspector-${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`
}
