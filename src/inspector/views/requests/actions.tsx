import { useState } from 'preact/hooks'
import type { RecordedRequest } from '../../../client/index.js'
import { CopyButton, copyText } from '../../parts/copy.js'
import { useNotices } from '../../parts/notices.js'
import { useCommands } from '../../shell/palette.js'
import { addressOf } from '../../shell/router.js'
import { useSession } from '../../shell/session.js'
import { curlAgain, faultOf, patternOf, verificationSource } from './copies.js'

/** What one can do with a request that has come. */
export function Actions({ request, isKeyless }: { request: RecordedRequest; isKeyless: boolean }) {
  const { env, changed } = useSession()
  const { run, tell } = useNotices()
  const [isAdding, setAdding] = useState(false)
  const rule = isKeyless ? undefined : faultOf(request)
  // A rule can not ask for a query that is absent.
  const like = rule?.match?.query ? 'like it' : 'to this path, with any query,'
  const curl = () => curlAgain(env, request)
  const failNext = async () => {
    if (!rule) return
    setAdding(true)
    const added = await run(() => env.faults.add(rule))
    setAdding(false)
    if (!added) return
    changed()
    tell(`The next request ${like} is answered with 503.`, { href: addressOf(['faults']), text: 'Faults' })
  }
  useCommands([
    { name: 'Copy this request as curl', run: () => void run(() => copyText(curl()), 'Copied') },
    ...(rule ? [{ name: 'Fail the next request like this one', run: () => void failNext() }] : [])
  ])
  return (
    <div class="row">
      <CopyButton text={curl} title="With the key of this environment">
        Copy as curl
      </CopyButton>
      {!isKeyless && (
        <>
          <CopyButton text={() => verificationSource(patternOf(request))} title="For a test with the library">
            Copy as verification
          </CopyButton>
          <CopyButton
            text={() => JSON.stringify(patternOf(request), null, 2)}
            title="The body of POST /_mock/requests/verify"
          >
            … as JSON
          </CopyButton>
        </>
      )}
      {rule && (
        <button
          type="button"
          disabled={isAdding}
          title={`Answers the next request ${like} with 503`}
          onClick={failNext}
        >
          Fail the next one like it
        </button>
      )}
    </div>
  )
}
