import type { AssumptionId } from '../../domain/assumptions.js'
import type { Fact } from './document-facts.js'

/**
 * The facts that each assumption can explain. It has one list for each alternative, which is our
 * document for another value of the assumption. The list contains how the two documents differ.
 */
export type AssumptionFacts = ReadonlyMap<AssumptionId, readonly (readonly Fact[])[]>

/**
 * Maps facts to the assumptions that explain them. An assumption explains an alternative's facts
 * about a place only if `facts` contains all of them.
 */
export function explainFacts(
  facts: readonly Fact[],
  assumptionFacts: AssumptionFacts
): Map<Fact, AssumptionId> {
  const factsByKey = new Map(facts.map((fact) => [keyOf(fact), fact]))
  const explained = new Map<Fact, AssumptionId>()
  for (const [id, alternatives] of assumptionFacts) {
    for (const group of alternatives.flatMap((alternative) => groupByPlace(alternative))) {
      const found = group.map((fact) => factsByKey.get(keyOf(fact)))
      for (const fact of found.every((item) => item !== undefined) ? found : []) {
        if (!explained.has(fact)) explained.set(fact, id)
      }
    }
  }
  return explained
}

function groupByPlace(facts: readonly Fact[]): Fact[][] {
  const groups = new Map<string, Fact[]>()
  for (const fact of facts) {
    const place = JSON.stringify([fact.operation, fact.status, fact.place])
    groups.set(place, [...(groups.get(place) ?? []), fact])
  }
  return [...groups.values()]
}

/**
 * Returns a key that is the same for equal facts. If only one document has the part, the key
 * leaves out the part's types and values.
 */
function keyOf({ operation, status, place, name, kind, side, item }: Fact): string {
  const value = kind === 'content' ? item : ''
  return JSON.stringify([operation, status, place, name, side, value])
}
