import type { Route } from '../../shell/router.js'

/** The URL parameters that belong to the search: words (`q`), and filters for the message list. */
export const SEARCH_PARAMETERS = ['q', 'channel', 'subscriberId', 'transactionId', 'contextKeys']

/** Returns the text that the search field shows for the parameters of a URL. */
export function searchTextOf(params: URLSearchParams): string {
  const quoteIfNeeded = (word: string) => (/\s/.test(word) ? `"${word}"` : word)
  return [...params]
    .filter(([name]) => SEARCH_PARAMETERS.includes(name))
    .map(([name, value]) => (name === 'q' ? value : quoteIfNeeded(`${name}:${value}`)))
    .join(' ')
}

/**
 * Returns a function that checks whether the given texts contain every word of the search in the
 * URL.
 */
export function searchMatcher({ params }: Route): (...texts: string[]) => boolean {
  const words = searchTextOf(params).toLowerCase().split(/\s+/)
  return (...texts) => words.every((word) => texts.join(' ').toLowerCase().includes(word))
}
