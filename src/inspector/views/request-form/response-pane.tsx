import { useEffect, useRef } from 'preact/hooks'
import { Callout, toneClass } from '../../parts/chip.js'
import { EmptyPane } from '../../parts/empty.js'
import { ErrorNote } from '../../parts/error-note.js'
import { formatDuration } from '../../parts/format-time.js'
import { JsonTree } from '../../parts/json-tree.js'
import { Pane, Scroll } from '../../parts/pane.js'
import { hrefTo } from '../../shell/router.js'
import { reasonOf } from '../../shell/session.js'
import { NamedValues } from '../requests/exchange.js'
import { toneOfStatus } from '../requests/format-request.js'
import { DraftError } from './draft.js'
import type { Sending } from './sending.js'

/** Shows the response to the last request. */
export function ResponsePane({ sending: { isSending, sent, error } }: { sending: Sending }) {
  // The form shows a `DraftError` next to its field.
  if (error !== undefined && !(error instanceof DraftError)) {
    return (
      <Pane label="Response">
        <Scroll>
          <ErrorNote error={error} />
        </Scroll>
      </Pane>
    )
  }
  if (!sent) {
    const text = isSending ? 'Waiting for the response…' : 'Send the request to see the response.'
    return <EmptyPane back={undefined}>{text}</EmptyPane>
  }
  return <Response sent={sent} />
}

function Response({ sent: { request, response, sequence } }: Required<Pick<Sending, 'sent'>>) {
  const { status, headers, json, text, duration } = response
  const head = useRef<HTMLDivElement>(null)
  // On narrow screens, the response is below the form, so scroll to it.
  useEffect(() => head.current?.scrollIntoView({ block: 'nearest' }), [response])
  const tone = toneOfStatus(status)
  const reason = reasonOf(response)
  return (
    <Pane
      label="Response"
      head={
        <div class="head" ref={head} role="status">
          <div class="head-title">
            <code class={`big toned ${toneClass(tone)}`}>{status}</code>
            <h2 class="target">
              <span class="muted">{request.method}</span> <bdi>{request.path}</bdi>
            </h2>
            <span class="hint">{formatDuration(duration)}</span>
            {sequence !== undefined && (
              <a href={hrefTo(['requests', `${sequence}`])}>Open as #{sequence}</a>
            )}
          </div>
          {reason !== undefined && (
            <Callout tone={tone ?? 'warn'} icon="warn">
              <span class="callout-text">{reason}</span>
            </Callout>
          )}
        </div>
      }
    >
      <Scroll>
        {text !== '' && <JsonTree value={json} label="Response body" />}
        <NamedValues title="Headers" values={Object.entries(headers)} />
      </Scroll>
    </Pane>
  )
}
