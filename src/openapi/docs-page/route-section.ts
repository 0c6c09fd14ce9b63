import type { BodyContent, DocumentedRoute } from '../api-document.js'
import { describeLimits } from '../describe-type.js'
import { type Html, html, inlineMarkdown } from './html.js'
import { definition, type TypeUrl, typeOf } from './type-section.js'

/** A route with its path and its upper-case method. */
export interface LocatedRoute extends DocumentedRoute {
  method: string
  path: string
}

/** The targets of the links in a section. */
export interface Links {
  /**
   * Returns the URL of the inspector's request form for an operation or control route. Undefined if
   * the inspector is turned off.
   */
  formUrl: ((operationId: string) => string) | undefined
  typeUrl: TypeUrl
}

/** Renders an operation with its parameters, its responses and an example. */
export function operationSection(route: LocatedRoute, links: Links): Html {
  const { operationId, summary, description = '', method, path, responses } = route
  const [success] = Object.values(responses)
  const example = contentOf(success?.content)?.example
  return html`<section id="${operationId}">
<h3>${summary}</h3>
<p class="route"><code><b>${method}</b> ${path}</code> ${tryIt(route, links)}
<p>${inlineMarkdown(description)}
<h4>Parameters</h4>
${parameterList(route, links)}
<h4>Responses</h4>
${responseList(route, links)}
${
  example !== undefined &&
  html`<details><summary>Example response</summary>
<pre tabindex="0"><code>${JSON.stringify(example, null, '\t')}</code></pre></details>`
}
</section>
`
}

/** Renders a control route, collapsed to its method, path and summary. */
export function controlRouteSection(route: LocatedRoute, links: Links): Html {
  const { operationId, summary, description, method, path, requestBody, responses } = route
  const body = contentOf(requestBody?.content)
  const [status = '', success] = Object.entries(responses)[0] ?? []
  const response = contentOf(success?.content)
  return html`<details id="${operationId}"><summary><code><b>${method}</b> ${path}</code> ${summary}</summary>
${description !== undefined && html`<p>${inlineMarkdown(description)}`}
${parameterList(route, links)}
<p>${body && html`Body: ${typeOf(body.schema, links.typeUrl)}. `}Returns ${status}${
    response && html`: ${typeOf(response.schema, links.typeUrl)}`
  }. ${tryIt(route, links)}</details>
`
}

function parameterList({ parameters = [] }: LocatedRoute, { typeUrl }: Links): Html | undefined {
  if (parameters.length === 0) return undefined
  const entries = parameters.map(({ name, in: place, description = '', required, schema }) => {
    const facts = [place, typeOf(schema, typeUrl), required && 'required']
    return definition(name, [...facts, ...describeLimits(schema)], description)
  })
  return html`<dl>${entries}</dl>`
}

function responseList({ responses }: LocatedRoute, { typeUrl }: Links): Html {
  const entries = Object.entries(responses).map(([status, { description, content }]) => {
    const schema = contentOf(content)?.schema
    return definition(status, [schema && typeOf(schema, typeUrl)], description)
  })
  return html`<dl>${entries}</dl>`
}

/** Returns the schema and the example of a body. A body has only one media type. */
export const contentOf = (content: BodyContent | undefined) => Object.values(content ?? {})[0]

function tryIt({ operationId }: LocatedRoute, { formUrl }: Links): Html | undefined {
  return formUrl && html`<a href="${formUrl(operationId)}">Try it</a>`
}
