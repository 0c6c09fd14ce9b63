import { useEffect, useState } from 'preact/hooks'

/** The parts of the URL's hash, such as `#/messages/<id>?channel=email`. */
export interface Route {
  /** The first path segment, such as `messages`. */
  view: string
  /** The other path segments, such as an id. */
  rest: string[]
  params: URLSearchParams
}

function currentRoute(): Route {
  const [path = '', query = ''] = location.hash.slice(2).split(/\?(.*)/s)
  const [view = '', ...rest] = path.split('/').map(decodeOrKeep)
  return { view, rest, params: new URLSearchParams(query) }
}

/** Decodes a segment of the URL. Returns a malformed segment unchanged. */
export function decodeOrKeep(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch (error) {
    if (error instanceof URIError) return segment
    throw error
  }
}

/**
 * Returns the URL of a view in the current environment, or in the environment that `params` names.
 * Omits empty parameters.
 */
export function hrefTo(
  path: readonly string[],
  params: Record<string, string | undefined> = {}
): string {
  const environment = currentRoute().params.get('environment') ?? ''
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries({ environment, ...params })) {
    if (value) query.append(name, value)
  }
  return `#/${path.map(encodeURIComponent).join('/')}${query.size > 0 ? `?${query}` : ''}`
}

/**
 * Opens a URL in the inspector. With `replace`, replaces the current history entry instead of
 * adding one.
 */
export function navigate(href: string, { replace = false } = {}): void {
  if (href === location.hash) return
  if (!replace) {
    location.hash = href
    return
  }
  history.replaceState(null, '', href)
  // `replaceState` doesn't fire the event that `useRoute` listens for.
  dispatchEvent(new HashChangeEvent('hashchange'))
}

/** Returns the current route. Renders the component again when the route changes. */
export function useRoute(): Route {
  const [, setHash] = useState(location.hash)
  useEffect(() => {
    const update = () => setHash(location.hash)
    addEventListener('hashchange', update)
    return () => removeEventListener('hashchange', update)
  }, [])
  return currentRoute()
}
