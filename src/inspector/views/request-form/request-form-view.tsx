import { useEffect, useRef, useState } from 'preact/hooks'
import type { RecordedRequest } from '../../../client/index.js'
import { Callout } from '../../parts/chip.js'
import { ErrorNote } from '../../parts/error-note.js'
import { Close, Pane } from '../../parts/pane.js'
import { useResource } from '../../parts/resource.js'
import { WhileConnected } from '../../shell/connection-note.js'
import { useConnectionProblem } from '../../shell/live-provider.js'
import { hrefTo, type Route } from '../../shell/router.js'
import { useSession } from '../../shell/session.js'
import { type Draft, draftOf, newDraft } from './draft.js'
import { RequestForm } from './form.js'
import { type DescribedOperation, loadOperations } from './operations.js'
import { ResponsePane } from './response-pane.js'
import { useSending } from './sending.js'
import './request-form.css'

/**
 * A form for a request, next to its response. The URL is `#/requests/new`, optionally with a
 * parameter that fills in the form: `from`, the number of a recorded request, or `operation`, the
 * id of an operation or control route.
 */
export function RequestFormView({ route: { params } }: { route: Route }) {
  const from = params.get('from') ?? undefined
  const operation = params.get('operation') ?? undefined
  const { env, call } = useSession()
  const isConnected = useConnectionProblem() === undefined
  const { value, error, reload } = useResource(async () => {
    const operations = await loadOperations(call, operation)
    const chosen = operations.find(({ id }) => id === (operation ?? 'listMessages'))
    const recorded = from === undefined ? undefined : await env.requests.get(Number(from))
    const draft = recorded ? draftOf(recorded, operations) : newDraft(chosen)
    const gap = recorded && describeGap(recorded)
    return { draft, operations, gap, source: `${from} ${operation}` }
  }, [call, env, from, operation, isConnected])
  return (
    <div class="request-form">
      <WhileConnected>
        {error !== undefined && <ErrorNote error={error} retry={reload} />}
      </WhileConnected>
      {value && (
        <Exchange
          key={value.source}
          from={from}
          draft={value.draft}
          operations={value.operations}
          gap={value.gap}
        />
      )}
    </div>
  )
}

/** Returns why the recorded body differs from the sent one, or undefined if it doesn't. */
function describeGap({ body = '', bodyLength }: RecordedRequest): string | undefined {
  if (bodyLength !== undefined) return 'The journal has only the beginning of the body.'
  return body.includes('***') ? 'The journal masks secrets in the body as ***.' : undefined
}

interface ExchangeProps {
  from: string | undefined
  gap: string | undefined
  draft: Draft
  operations: readonly DescribedOperation[]
}

/** The form and the response to the last request that it sent. */
function Exchange({ from, gap, draft: initialDraft, operations }: ExchangeProps) {
  const [draft, setDraft] = useState(initialDraft)
  const sending = useSending()
  const heading = useRef<HTMLHeadingElement>(null)
  // Move the focus here, because the link that opened the form no longer exists.
  useEffect(() => heading.current?.focus(), [])
  const head = (
    <div class="head">
      <div class="head-title">
        <h1 ref={heading} tabIndex={-1}>
          {from === undefined ? 'New request' : `Edit request ${from}`}
        </h1>
        <Close back={hrefTo(from === undefined ? ['requests'] : ['requests', from])} />
      </div>
      {gap !== undefined && (
        <Callout tone="warn" icon="warn">
          <span class="callout-text">{gap}</span>
        </Callout>
      )}
    </div>
  )
  return (
    <>
      <Pane label="Request" head={head}>
        <RequestForm draft={draft} setDraft={setDraft} operations={operations} sending={sending} />
      </Pane>
      <ResponsePane sending={sending} />
    </>
  )
}
