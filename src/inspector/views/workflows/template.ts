import { isObject } from './schema.js'

/**
 * Returns a text of a template in parts, every second one of which is a variable (`{{…}}`) or a tag (`{%…%}`). The time it
 * takes grows with the length of the text alone, also where many are never closed.
 */
export function templateParts(text: string): string[] {
  const parts: string[] = []
  const opening = /\{[{%]/g
  // An end that is not found once is not there for what opens later either.
  const unclosed = new Set<string>()
  let done = 0
  for (let match = opening.exec(text); match && unclosed.size < 2; match = opening.exec(text)) {
    const [open] = match
    const close = open === '{{' ? '}}' : '%}'
    const end = unclosed.has(close) ? -1 : text.indexOf(close, match.index + 2)
    if (end === -1) {
      unclosed.add(close)
      opening.lastIndex = match.index + 1
    } else {
      parts.push(text.slice(done, match.index), text.slice(match.index, end + 2))
      done = end + 2
      opening.lastIndex = done
    }
  }
  return [...parts, text.slice(done)]
}

/** Returns the paths of the variables that values name, such as `payload.photos[0].url`. */
export function variablesIn(value: unknown): string[] {
  if (typeof value === 'string') {
    return templateParts(value).flatMap((part, index) =>
      index % 2 === 1 ? (part.match(/\b[a-z]\w*(?:\.[\w-]+|\[\d+\])+/gi) ?? []) : []
    )
  }
  if (!isObject(value) && !Array.isArray(value)) return []
  const named = isObject(value) && typeof value.var === 'string' ? [value.var] : []
  return [...named, ...Object.values(value).flatMap(variablesIn)]
}
