import type { RecordedExchange, ReplayedRequest } from '../../../client/index.js'
import { Callout } from '../../parts/chip.js'
import { ErrorNote } from '../../parts/error-note.js'
import { Close, Pane, Scroll } from '../../parts/pane.js'
import { useResource } from '../../parts/resource.js'
import { hrefTo } from '../../shell/router.js'
import { useSession } from '../../shell/session.js'
import { ResponseContent } from '../requests/exchange.js'
import { Differences } from './differences.js'
import { RESULTS, UNKNOWN_CAUSE } from './request-list.js'

interface Props {
  request: ReplayedRequest
  /** The URL that the close button opens. Without it, the pane has no close button. */
  back: string | undefined
}

/** Shows the result of repeating a recorded request, and how the new response differs. */
export function ReplayedRequestPane({ request, back }: Props) {
  const { sequence, method, target, status, result, repeatedAs, differences = [] } = request
  const head = (
    <div class="head">
      <div class="head-title">
        <code class="big">{status ?? 'none'}</code>
        <h2 class="target">
          <span class="muted">{method}</span> <bdi>{target}</bdi>
        </h2>
        <span class="hint">recorded as #{sequence}</span>
        {back !== undefined && <Close back={back} />}
      </div>
      <Callout tone={RESULTS[result].tone} icon={RESULTS[result].icon}>
        <span class="callout-text">{describeResult(request)}</span>
        {repeatedAs !== undefined && (
          <a href={hrefTo(['requests', `${repeatedAs}`])}>Request #{repeatedAs}</a>
        )}
      </Callout>
    </div>
  )
  return (
    <Pane label={`Recorded request ${sequence}`} head={head}>
      <Scroll>
        <Differences differences={differences} />
        {result === 'equal' && repeatedAs !== undefined && <RepeatedResponse of={repeatedAs} />}
      </Scroll>
    </Pane>
  )
}

function describeResult({ result, cause = UNKNOWN_CAUSE }: ReplayedRequest): string {
  switch (result) {
    case 'equal':
      return 'The response is the same as the recorded one.'
    case 'different':
      return `The response differs from the recorded one: ${cause}.`
    case 'next':
      return '“Send next” sends this request and compares the response with the recorded one.'
    case 'later':
      return "This request hasn't been repeated yet."
  }
}

/** The response to a repeated request, from the environment's journal. */
function RepeatedResponse({ of: sequence }: { of: number }) {
  const { env } = useSession()
  const { value, error } = useResource(
    (): Promise<RecordedExchange> => env.requests.get(sequence),
    [env, sequence]
  )
  if (error !== undefined) return <ErrorNote error={error} />
  return value?.sequence === sequence ? <ResponseContent exchange={value} /> : null
}
