import { type TSchema, Type } from '@sinclair/typebox'
import type { ApiDocument } from '../api-document.js'
import { typeNameOf } from '../describe-type.js'
import { type Html, html, inlineMarkdown } from './html.js'
import { layout } from './layout.js'
import {
  contentOf,
  controlRouteSection,
  type Links,
  type LocatedRoute,
  operationSection
} from './route-section.js'
import { referencedTypes, typeSection } from './type-section.js'

/** The OpenAPI documents of the mocked API and of the control routes. */
export interface ApiDocuments {
  api: ApiDocument
  control: ApiDocument
}

/** Renders the page `/docs`. For `formUrl`, see `Links`. */
export function renderDocsPage({ api, control }: ApiDocuments, formUrl: Links['formUrl']): string {
  const operations = routesOf(api)
  const groups = groupByTag(routesOf(control))
  const shownTypes = mainTypes(operations, api.components.schemas)
  const typeUrl = (name: string) => (shownTypes.includes(name) ? `#${name}` : `docs/types/${name}`)
  const types = { schemas: api.components.schemas, urlOf: typeUrl }
  const links = { formUrl, typeUrl }
  return layout({
    title: `API of notification-mock ${api.info.version}`,
    root: './',
    contents: contents(operations, groups),
    main: html`<h2 id="api">API</h2>
${paragraphs(api.info.description)}
${operations.map((operation) => operationSection(operation, links))}
<h3 id="types">Types</h3>
${shownTypes.map((name) => typeSection(name, 'h4', types))}
<h2 id="control">Control routes</h2>
${paragraphs(control.info.description)}
${groups.map(
  ([tag, routes]) => html`<h3 id="${tag}">${tag}</h3>
${routes.map((route) => controlRouteSection(route, links))}`
)}`
  })
}

/**
 * Renders the page of a type, with the types that it refers to. Returns undefined if neither
 * document has the type.
 */
export function renderTypePage({ api, control }: ApiDocuments, name: string): string | undefined {
  const document = [api, control].find(({ components }) => Object.hasOwn(components.schemas, name))
  const schema = document?.components.schemas[name]
  if (!document || !schema) return undefined
  const types = { schemas: document.components.schemas, urlOf: (other: string) => `#${other}` }
  const names = [...new Set([name, ...referencedTypes(schema, types.schemas)])]
  return layout({
    title: name,
    root: '../../',
    contents: names.map((each) => html`<a href="#${each}">${each}</a>`),
    main: names.map((each) => typeSection(each, 'h2', types))
  })
}

/**
 * Returns the names of the types to show on `/docs`: successful responses, and the records in their
 * lists. All other types have separate pages, which keeps `/docs` small.
 */
function mainTypes(
  operations: readonly LocatedRoute[],
  schemas: ApiDocument['components']['schemas']
) {
  const responseTypes = operations.map(({ responses }) =>
    typeNameOf(contentOf(responses[200]?.content)?.schema ?? Type.Unknown())
  )
  const recordTypes = responseTypes.flatMap((name) => {
    const fields = Object.values<TSchema>(schemas[name]?.properties ?? {})
    return fields.map(({ items }) => typeNameOf(items ?? Type.Unknown()))
  })
  const names = new Set([...responseTypes, ...recordTypes])
  return Object.keys(schemas).filter((name) => names.has(name))
}

function routesOf({ paths }: ApiDocument): LocatedRoute[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, route]) => ({
      ...route,
      method: method.toUpperCase(),
      path
    }))
  )
}

type Group = readonly [tag: string, routes: readonly LocatedRoute[]]

/** Returns each tag with its routes, in the order of the document. */
function groupByTag(routes: readonly LocatedRoute[]): Group[] {
  const tags = new Set(routes.flatMap((route) => route.tags))
  return [...tags].map((tag) => [tag, routes.filter((route) => route.tags.includes(tag))])
}

function contents(operations: readonly LocatedRoute[], groups: readonly Group[]): Html {
  const link = (id: string, text: string) => html`<a href="#${id}">${text}</a>\n`
  return html`<b>${link('api', 'API')}</b>
${operations.map(({ operationId, summary }) => link(operationId, summary))}
${link('types', 'Types')}
<b>${link('control', 'Control routes')}</b>
${groups.map(([tag]) => link(tag, tag))}`
}

function paragraphs(text: string): Html[] {
  // Links are relative to the page, because a proxy may serve it below a path.
  const relative = text.replaceAll('](/', '](./')
  return relative.split('\n\n').map((paragraph) => html`<p>${inlineMarkdown(paragraph)}`)
}
