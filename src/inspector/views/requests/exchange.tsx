import type { RecordedExchange, RecordedRequest } from '../../../client/index.js'
import { parseJsonOrText, parseTruncatedJson } from '../../parts/json.js'
import { JsonTree } from '../../parts/json-tree.js'
import { flattenValues } from './format-request.js'

/** Shows a response's body and headers. */
export function ResponseContent({ exchange }: { exchange: RecordedExchange }) {
  const { response, size, duration } = exchange
  if (!response) {
    const text = duration === undefined ? 'No response yet.' : 'The app got no response.'
    return <p class="muted">{text}</p>
  }
  const { body, truncated, dropped, headers } = response
  const parse = truncated ? parseTruncatedJson : parseJsonOrText
  return (
    <>
      {body !== undefined && <JsonTree value={parse(body)} label="Response body" />}
      {truncated && <p class="hint">Truncated: the response had {size?.toLocaleString()} bytes.</p>}
      {dropped && <p class="hint">The body was dropped to make room for newer responses.</p>}
      <NamedValues title="Headers" values={flattenValues(headers)} />
    </>
  )
}

/** Shows a request's query, body and headers. */
export function RequestContent({ request }: { request: RecordedRequest }) {
  const { query, headers, unknown, body, bodyLength, operation = 'none', arrived, time } = request
  const isTruncated = bodyLength !== undefined
  const clocks = { arrived, "by the environment's clock": time }
  const moreValues = Object.entries({ operation, ...clocks, ...request.flags })
  const parse = isTruncated ? parseTruncatedJson : parseJsonOrText
  return (
    <>
      <NamedValues title="Query" values={flattenValues(query)} unknown={unknown.query} />
      {body && <JsonTree value={parse(body)} label="Request body" />}
      {isTruncated && (
        <p class="hint">Truncated: the body had {bodyLength.toLocaleString()} bytes.</p>
      )}
      <NamedValues title="Headers" values={flattenValues(headers)} unknown={unknown.headers} />
      <NamedValues title="More" values={moreValues} />
    </>
  )
}

interface NamedValuesProps {
  title: string
  values: readonly (readonly [name: string, value: unknown])[]
  /** The names that the server doesn't know. The table marks them. */
  unknown?: readonly string[]
}

/** A table of names and values, such as headers. Renders nothing if there are no values. */
export function NamedValues({ title, values, unknown = [] }: NamedValuesProps) {
  if (values.length === 0) return null
  return (
    <section>
      <h3>{title}</h3>
      <dl class="facts mono">
        {values.map(([name, value], index) => [
          <dt key={index} class={unknown.includes(name) ? 'is-warn toned' : undefined} dir="auto">
            {name}
            {unknown.includes(name) && <span class="visually-hidden"> (unknown)</span>}
          </dt>,
          <dd key={`${index} value`} dir="auto">
            {String(value)}
          </dd>
        ])}
      </dl>
    </section>
  )
}
