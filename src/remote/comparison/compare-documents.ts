import type { AssumptionId } from '../../domain/assumptions.js'
import { StartError } from '../../domain/errors.js'
import { isObject, isTooDeep } from '../../schema/validation.js'
import { ANY, type Fact, FactCollector } from './document-facts.js'
import { type DocumentNode, MAX_DOCUMENT_DEPTH } from './document-view.js'
import { type AssumptionFacts, explainFacts } from './explained-facts.js'
import { type DocumentedOperation, operationsIn } from './operation-view.js'

/** Where two documents differ. */
export interface DifferencePlace {
  operation: string
  /** The response's status, if the difference is in a response's headers or error body. */
  status?: string
  /**
   * JSON pointers to the differing part in the published document and in ours. In a document that
   * lacks the part, the pointer leads to the part's parent.
   */
  publishedAt: string
  oursAt: string
}

/** How a part of a published OpenAPI document differs from ours, at one or more places. */
export interface DocumentDifference {
  /**
   * `narrower`: the published document allows fewer values than ours. `wider`: it allows more
   * values.
   */
  kind: 'published only' | 'ours only' | 'narrower' | 'wider' | 'different'
  /** What differs, such as `parameter query limit type` or `body.data[].channel values`. */
  parts: string[]
  /**
   * The object that the fields in `parts` belong to. It is set only if one document lacks four or
   * more of the object's fields.
   */
  object?: string
  /**
   * The values or types that only the published document allows. If our document lacks the part,
   * this is a description of the part.
   */
  published: string[]
  /** Like `published`, but for our document. */
  ours: string[]
  places: DifferencePlace[]
  explainedBy?: AssumptionId
}

export interface DocumentComparison {
  /** How many operations are in both documents. */
  compared: number
  /** The operations that the published document lacks. */
  missing: string[]
  /** Differences in schemas come first, then statuses, error bodies and headers. */
  differences: DocumentDifference[]
}

/**
 * Returns how our document differs from each assumption's alternatives. An alternative is our
 * document for another value of the assumption.
 */
export function readAssumptionFacts(
  ours: object,
  alternatives: ReadonlyMap<AssumptionId, readonly object[]>
): AssumptionFacts {
  const ourOperations = operationsIn(ours as DocumentNode)
  const factsOf = (document: object) =>
    factsBetween(operationsIn(document as DocumentNode), ourOperations)
  return new Map([...alternatives].map(([id, documents]) => [id, documents.map(factsOf)]))
}

/**
 * Compares our OpenAPI document with a published document of version 3.0 or 3.1. Follows
 * references. If a response is in an envelope, compares the content of the envelope. Merges the
 * schemas in a `oneOf` or `anyOf` before comparing them, and compares how many there are. Doesn't
 * compare patterns, formats, or bounds other than `minItems`. Throws `StartError` if the published
 * document isn't an OpenAPI document.
 */
export function compareDocuments(
  published: unknown,
  ours: object,
  assumptionFacts: AssumptionFacts = new Map()
): DocumentComparison {
  const publishedOperations = operationsIn(checkedDocument(published))
  const ourOperations = operationsIn(ours as DocumentNode)
  const facts = factsBetween(publishedOperations, ourOperations)
  const missing = [...ourOperations].filter(([id]) => !publishedOperations.has(id))
  return {
    compared: ourOperations.size - missing.length,
    missing: missing.map(([, { name }]) => name),
    differences: groupFacts(facts, explainFacts(facts, assumptionFacts))
  }
}

function checkedDocument(document: unknown): DocumentNode {
  const isOpenApi =
    isObject(document) && /^3\.[01]\b/.test(String(document.openapi)) && isObject(document.paths)
  if (!isOpenApi)
    throw new StartError(
      'the published document is not an OpenAPI 3.0 or 3.1 document; ' +
        'it must have the fields openapi and paths'
    )
  if (isTooDeep(document, MAX_DOCUMENT_DEPTH))
    throw new StartError(`the document is nested more than ${MAX_DOCUMENT_DEPTH} levels deep`)
  return document
}

type Operations = ReadonlyMap<string, DocumentedOperation>

function factsBetween(published: Operations, ours: Operations): Fact[] {
  const collector = new FactCollector()
  for (const [id, { name, read }] of ours) {
    const publishedOperation = published.get(id)
    if (publishedOperation) collector.compare(name, publishedOperation.read(), read())
  }
  return collector.facts
}

/**
 * Groups facts into differences. A difference contains all facts about a part, and all places where
 * the part differs in the same way. Headers that differ in the same way at the same places share a
 * difference.
 */
function groupFacts(
  facts: readonly Fact[],
  explained: ReadonlyMap<Fact, AssumptionId>
): DocumentDifference[] {
  const differences = [...groupBy(facts, (fact) => partKey(fact, explained.get(fact))).values()]
    .flatMap((group) => toDifferences(group, explained))
    .sort((one, two) => rankOf(one) - rankOf(two) || (partOf(one) < partOf(two) ? -1 : 1))
  const byPart = groupBy(differences, (difference) => JSON.stringify({ ...difference, places: 0 }))
  const samePlaces = groupBy(
    [...byPart.values()].map((group) => mergeGroup(group)),
    (difference) => placesKey(difference)
  )
  return [...samePlaces.values()].map((group) => mergeGroup(group))
}

/**
 * Returns the key that facts are grouped by. For each object, the fields that only the published
 * document has share a key, and so do the fields that only ours has.
 */
function partKey(fact: Fact, id?: AssumptionId): string {
  const { operation, status, place, name, kind, side, parents } = fact
  const presence = kind === 'presence' ? side : ''
  return JSON.stringify([operation, status, place, parents ? '' : name, kind, presence, id])
}

/** How many missing fields of an object can be listed as separate differences. */
const MAX_SEPARATE_FIELDS = 3

function toDifferences(
  facts: readonly Fact[],
  explained: ReadonlyMap<Fact, AssumptionId>
): DocumentDifference[] {
  const [{ place, parents }] = facts as [Fact, ...Fact[]]
  if (!parents) return [toDifference(facts, explained)]
  const fields = facts.map((fact) => toDifference([fact], explained))
  const [first] = fields
  if (!first || fields.length <= MAX_SEPARATE_FIELDS) return fields
  return [
    {
      ...first,
      object: place,
      parts: fields.flatMap(({ parts }) => parts),
      published: [],
      ours: [],
      places: first.places.map((firstPlace) => ({ ...firstPlace, ...parents }))
    }
  ]
}

function toDifference(
  facts: readonly Fact[],
  explained: ReadonlyMap<Fact, AssumptionId>
): DocumentDifference {
  const [first] = facts as [Fact, ...Fact[]]
  const { operation, status, place, name, kind, publishedAt, oursAt } = first
  const itemsOn = (side: Fact['side']) =>
    facts.filter((fact) => fact.side === side && fact.item !== '').map(({ item }) => item)
  const published = itemsOn('published')
  const ours = itemsOn('ours')
  const explainedBy = explained.get(first)
  return {
    kind: kind === 'presence' ? `${first.side} only` : kindOf(published, ours),
    parts: [kind === 'presence' ? place + name : `${place} ${name}`.trimStart()],
    published,
    ours,
    places: [{ operation, ...(status !== undefined && { status }), publishedAt, oursAt }],
    ...(explainedBy && { explainedBy })
  }
}

function kindOf(published: readonly string[], ours: readonly string[]): DocumentDifference['kind'] {
  if (published.length === 0 || ours.includes(ANY)) return 'narrower'
  if (ours.length === 0 || published.includes(ANY)) return 'wider'
  return 'different'
}

/**
 * Returns a key that is unique to the difference, except that headers share a key if they differ in
 * the same way at the same places.
 */
function placesKey(difference: DocumentDifference): string {
  const isHeader = partOf(difference).startsWith('header ')
  return JSON.stringify({ ...difference, parts: isHeader ? 'header' : difference.parts })
}

function mergeGroup(group: readonly DocumentDifference[]): DocumentDifference {
  const [first] = group as [DocumentDifference, ...DocumentDifference[]]
  const placesOf = new Map(
    group.flatMap(({ places }) => places.map((place) => [JSON.stringify(place), place]))
  )
  const parts = [...new Set(group.flatMap((difference) => difference.parts))]
  return { ...first, parts, places: [...placesOf.values()] }
}

const ORDER = [/^(?!status|error body|header)/, /^status/, /^error body/, /^header/]

const partOf = ({ parts: [part = ''] }: DocumentDifference) => part

const rankOf = (difference: DocumentDifference) =>
  ORDER.findIndex((pattern) => pattern.test(partOf(difference)))

function groupBy<Item>(items: readonly Item[], keyOf: (item: Item) => string): Map<string, Item[]> {
  const groups = new Map<string, Item[]>()
  for (const item of items) {
    const group = groups.get(keyOf(item)) ?? []
    group.push(item)
    groups.set(keyOf(item), group)
  }
  return groups
}
