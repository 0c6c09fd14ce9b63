/** Returns a number with its noun, such as `1 request` or `2 requests`. */
export function countOf(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

/** Returns a number with its noun and verb, such as `1 request is` or `2 requests are`. */
export function countWithVerb(count: number, noun: string): string {
  return `${countOf(count, noun)} ${count === 1 ? 'is' : 'are'}`
}
