import { type TSchema, Type } from '@sinclair/typebox'
import { describeType, describeValues, type TypeFormat, typeNameOf } from '../describe-type.js'
import { escapeHtml, Html, html, inlineMarkdown } from './html.js'

/** Returns the URL of a type. */
export type TypeUrl = (typeName: string) => string

/** Describes the type of a value. The names of types are links. */
export const typeOf = (schema: TSchema, typeUrl: TypeUrl) =>
  new Html(describeType(schema, formatWith(typeUrl)))

const formatWith = (typeUrl: TypeUrl): TypeFormat => ({
  code: (text) => `<code>${escapeHtml(text)}</code>`,
  link: (name) => `<a href="${escapeHtml(typeUrl(name))}">${escapeHtml(name)}</a>`
})

/** The types of an OpenAPI document, and their URLs. */
export interface Types {
  schemas: Record<string, TSchema>
  urlOf: TypeUrl
}

/** Renders a type of the document with its fields or values. */
export function typeSection(name: string, heading: 'h2' | 'h4', { schemas, urlOf }: Types): Html {
  const schema = schemas[name] ?? Type.Unknown()
  const fields = Object.entries<TSchema>(schema.properties ?? {})
  const alternatives: TSchema[] = schema.anyOf ?? []
  return html`<section id="${name}"><${heading}>${name}</${heading}>
${schema.description && html`<p>${inlineMarkdown(`${schema.description}.`)}`}
${schema.enum && html`<p>One of ${new Html(describeValues(schema.enum, formatWith(urlOf)))}.`}
${alternatives.length > 0 && html`<p>${typeOf(schema, urlOf)}.`}
${fields.length > 0 && fieldList(fields, schema.required ?? [], { schemas, urlOf })}</section>
`
}

function fieldList(
  fields: readonly [string, TSchema][],
  required: readonly string[],
  { schemas, urlOf }: Types
): Html {
  const entries = fields.map(([name, field]) => {
    const description = field.description ?? schemas[typeNameOf(field)]?.description ?? ''
    return definition(
      name,
      [typeOf(field, urlOf), required.includes(name) && 'required'],
      description
    )
  })
  return html`<dl>${entries}</dl>`
}

/** Renders a name, its type and its description. */
export function definition(
  name: string,
  facts: readonly (Html | string | undefined | false)[],
  description: string
): Html {
  const present = facts.filter((fact) => fact !== undefined && fact !== false)
  const separated = present.map((fact, index) => (index === 0 ? fact : html`, ${fact}`))
  const separator = present.length > 0 && description !== '' && ' · '
  return html`<dt><code>${name}</code><dd><i>${separated}</i>${separator}${inlineMarkdown(description)}`
}

/** Returns the names of the types that a schema refers to, directly and through other types. */
export function referencedTypes(schema: TSchema, schemas: Types['schemas']): Set<string> {
  const names = new Set<string>()
  const collect = (part: TSchema) => {
    for (const [, name = ''] of JSON.stringify(part).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      if (names.has(name)) continue
      names.add(name)
      collect(schemas[name] ?? Type.Unknown())
    }
  }
  collect(schema)
  return names
}
