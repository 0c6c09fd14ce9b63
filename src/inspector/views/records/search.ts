import type { Route } from '../../shell/router.js'

/**
 * The parameters of the URL that are part of the search: a text, and filters of the message list.
 */
export const SEARCH_PARAMETERS = ['q', 'channel', 'subscriberId', 'transactionId', 'contextKeys']

/** Returns the search of a URL as the text that the search field shows. */
export function searchTextOf(params: URLSearchParams): string {
  const quoteIfNeeded = (word: string) => (/\s/.test(word) ? `"${word}"` : word)
  return [...params]
    .filter(([name]) => SEARCH_PARAMETERS.includes(name))
    .map(([name, value]) => (name === 'q' ? value : quoteIfNeeded(`${name}:${value}`)))
    .join(' ')
}

/** Returns a function that checks whether some texts contain all words of the search. */
export function searchMatcher({ params }: Route): (...texts: string[]) => boolean {
  const words = searchTextOf(params).toLowerCase().split(/\s+/)
  return (...texts) => words.every((word) => texts.join(' ').toLowerCase().includes(word))
}
