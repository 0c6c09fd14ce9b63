import type { Allowed, View } from './document-view.js'
import type { OperationView } from './operation-view.js'

/** A part or an allowed value that only the published document has, or only our document. */
export interface Fact {
  operation: string
  /** The status of the response, if the fact is about its headers or its error body. */
  status?: string
  /**
   * The path of the schema that contains the part, such as `body.data[].channel`. Empty if the part
   * belongs to the operation or the response itself.
   */
  place: string
  /** A part of the place, such as `.email`, `values` or `parameter query limit`. */
  name: string
  /** `presence` if only one document has the part, and `content` if both have it. */
  kind: 'presence' | 'content'
  side: 'published' | 'ours'
  /**
   * If both documents have the part: the value, type or other item that only one of them allows.
   * Otherwise: the types and values of the part.
   */
  item: string
  publishedAt: string
  oursAt: string
  /**
   * Pointers to the object that contains the part. Set only if the part is a field that one
   * document lacks.
   */
  parents?: Pointers
}

/** The item that stands for "no restriction". */
export const ANY = 'anything'

type Place = Pick<Fact, 'operation' | 'status' | 'place'>
interface Pointers {
  publishedAt: string
  oursAt: string
}

const TRAIT_DEFAULTS: Readonly<Record<string, string>> = {
  deprecated: 'false',
  'minimum items': '0',
  variants: '1'
}

/**
 * Collects the facts about two documents. A schema that several places share is compared only at
 * the first of these places.
 */
export class FactCollector {
  readonly facts: Fact[] = []
  /** The pairs of schemas that were already compared, in any operation. */
  readonly #comparedPairs = new Set<string>()

  compare(operation: string, published: OperationView, ours: OperationView): void {
    const place = { operation, place: '' }
    const publishedView = withStatuses(published)
    const ourView = withStatuses(ours)
    this.#compareTraits(publishedView, ourView, place)
    this.#compareFields(publishedView, ourView, place)
    for (const [status, view] of ours.responses) {
      const publishedResponse = published.responses.get(status)
      if (publishedResponse) this.#compareFields(publishedResponse, view, { ...place, status })
    }
  }

  #compareFields(published: View, ours: View, parent: Place): void {
    // Our fields come first, so that the place where a shared schema is compared doesn't depend on
    // the published document.
    const names = new Set([...ours.fields.keys(), ...published.fields.keys()])
    for (const name of names) {
      const publishedField = published.fields.get(name)?.()
      const ourField = ours.fields.get(name)?.()
      if (publishedField && ourField) {
        const place = { ...parent, place: parent.place + name }
        const pointers = pointersOf(publishedField, ourField)
        const presences = [presenceOf(published, name), presenceOf(ours, name)] as const
        this.#compareAllowed('required', ...presences, place, pointers)
        this.#compareViews(publishedField, ourField, place)
      } else {
        const view = publishedField ?? ourField
        this.facts.push({
          ...parent,
          name,
          kind: 'presence',
          side: publishedField ? 'published' : 'ours',
          item: view ? describeView(view) : '',
          ...pointersOf(publishedField ?? published, ourField ?? ours),
          ...(name.startsWith('.') && { parents: pointersOf(published, ours) })
        })
      }
    }
  }

  #compareViews(published: View, ours: View, place: Place): void {
    const pair = `${pairKey(published)} ${pairKey(ours)}`
    if (this.#comparedPairs.has(pair)) return
    this.#comparedPairs.add(pair)
    const pointers = pointersOf(published, ours)
    if (published.defaults && ours.defaults)
      this.#compareAllowed('default', published.defaults, ours.defaults, place, pointers)
    const isSameType = this.#compareAllowed('type', published.types, ours.types, place, pointers)
    this.#compareAllowed('values', published.values, ours.values, place, pointers)
    this.#compareTraits(published, ours, place)
    // A schema without fields allows any field, so its fields can't be compared one by one.
    if ((published.fields.size === 0) === (ours.fields.size === 0))
      this.#compareFields(published, ours, place)
    else if (isSameType)
      this.#compareAllowed('fields', fieldNames(published), fieldNames(ours), place, pointers)
  }

  #compareTraits(published: View, ours: View, place: Place): void {
    const pointers = pointersOf(published, ours)
    for (const name of new Set([...ours.traits.keys(), ...published.traits.keys()])) {
      const initial = TRAIT_DEFAULTS[name]
      const missing = initial === undefined ? undefined : new Set([initial])
      const publishedTrait = published.traits.get(name) ?? missing
      const ourTrait = ours.traits.get(name) ?? missing
      this.#compareAllowed(name, publishedTrait, ourTrait, place, pointers)
    }
  }

  /**
   * Adds a fact for each item that only one document allows. Returns whether both documents allow
   * the same items.
   */
  #compareAllowed(
    name: string,
    published: Allowed,
    ours: Allowed,
    place: Place,
    pointers: Pointers
  ): boolean {
    const onlyIn = name === 'type' ? typesOnlyIn : itemsOnlyIn
    const onlyPublished = onlyIn(published, ours)
    const onlyOurs = onlyIn(ours, published)
    const fact = { ...place, name, kind: 'content', ...pointers } as const
    for (const item of onlyPublished) this.facts.push({ ...fact, side: 'published', item })
    for (const item of onlyOurs) this.facts.push({ ...fact, side: 'ours', item })
    return onlyPublished.length + onlyOurs.length === 0
  }
}

/** Returns an operation's view, with each response status as an additional field. */
function withStatuses({ view, responses }: OperationView): View {
  const statuses = [...responses].map(
    ([status, response]) => [`status ${status}`, () => statusView(response)] as const
  )
  return { ...view, fields: new Map([...view.fields, ...statuses]) }
}

/** Returns a view without fields, because the headers and the body are compared separately. */
const statusView = (response: View): View => ({ ...response, fields: new Map() })

function itemsOnlyIn(one: Allowed, other: Allowed): string[] {
  if (!one) return other ? [ANY] : []
  return [...one].filter((item) => !other?.has(item))
}

/** Like `itemsOnlyIn`, except that a document with the type `number` also allows `integer`. */
const typesOnlyIn = (one: Allowed, other: Allowed): string[] =>
  itemsOnlyIn(one, other?.has('number') ? new Set([...other, 'integer']) : other)

const pointersOf = (published: View, ours: View): Pointers => ({
  publishedAt: published.pointer,
  oursAt: ours.pointer
})

const pairKey = ({ pointers }: View) => [...pointers].sort().join()

const presenceOf = ({ required }: View, name: string) =>
  new Set(required.has(name) ? ['present'] : ['present', 'absent'])

/** Returns the names of the fields, or undefined if the schema allows any field. */
const fieldNames = ({ fields }: View): Allowed =>
  fields.size === 0 ? undefined : new Set(fields.keys())

/** Returns the types and the values of a schema as text. */
function describeView({ types, values }: View): string {
  const type = [...(types ?? [])].join(' or ')
  const list = values && values.size > 0 ? [...values].join(', ') : ''
  return type && list ? `${type}: ${list}` : type || list
}
