import { Fragment } from 'preact'
import { useState } from 'preact/hooks'
import { CopyButton } from '../../parts/copy.js'
import { Empty } from '../../parts/empty.js'
import { useNotices } from '../../parts/notices.js'
import { environmentAddress } from '../../shell/panel.js'
import { addressOf } from '../../shell/router.js'
import { useSession } from '../../shell/session.js'
import { useElsewhere } from './elsewhere.js'

/** In place of the list while nothing has come. */
export function NoRequests({ isKeyless, keylessCount }: { isKeyless: boolean; keylessCount: number }) {
  const { env, call } = useSession()
  const { run } = useNotices()
  const [isSending, setSending] = useState(false)
  const elsewhere = useElsewhere(!isKeyless)
  if (isKeyless) {
    return (
      <Empty title="No request came without a valid key">
        <p>Whatever comes without a key, or with one that no environment has, is listed here with what is wrong.</p>
      </Empty>
    )
  }
  const command = (key: string) => `curl -H 'Authorization: ApiKey ${key}' ${env.url}/v1/messages`
  const send = async () => {
    setSending(true)
    await run(() => call('GET', '/v1/messages'))
    setSending(false)
  }
  return (
    <Empty title="Nothing has come yet">
      <p>
        Point your product at this server, with the key of this environment, and each of its requests shows up here.
      </p>
      {keylessCount > 0 && (
        <p>
          {keylessCount === 1 ? 'One request has' : `${keylessCount.toLocaleString()} requests have`} come without a
          valid key: <a href={addressOf(['requests'], { show: 'keyless' })}>what is wrong with it</a>
        </p>
      )}
      {elsewhere.length > 0 && (
        <p>
          Requests have come with the key of{' '}
          {elsewhere.map((name, index) => (
            <Fragment key={name}>
              {index > 0 && ', '}
              <a dir="auto" href={environmentAddress('requests', { name })}>
                {name}
              </a>
            </Fragment>
          ))}
        </p>
      )}
      <code class="requests-command">{command('…')}</code>
      <div class="row">
        <CopyButton text={() => command(env.apiKey)}>Copy with the key</CopyButton>
        <button type="button" disabled={isSending} onClick={send}>
          Send one from here
        </button>
      </div>
      <p class="hint">A server that was started with --journal 0 records none.</p>
    </Empty>
  )
}

export function NoMatch({ count, all }: { count: number; all: string }) {
  return (
    <Empty title="No request matches">
      <p>
        None of the {count.toLocaleString()} requests is like that. <a href={all}>Show all</a>
      </p>
    </Empty>
  )
}
