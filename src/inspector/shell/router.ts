import { useEffect, useState } from 'preact/hooks'

/** What each view gets. */
export interface ViewProps {
  route: Route
}

/** Where the page is: a view, what it shows of it, and the environment if it is not the first one. */
export interface Route {
  /** The first segment, such as `messages`. */
  view: string
  /** What comes after it, such as an id. */
  rest: string[]
  params: URLSearchParams
}

/** Reads the present address, such as `#/messages?channel=email`. */
function present(): Route {
  const [path = '', query = ''] = location.hash.slice(2).split(/\?(.*)/s)
  const [view = '', ...rest] = path.split('/').map(decoded)
  return { view, rest, params: new URLSearchParams(query) }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Returns the address of a view in the present environment. Parameters that are empty are left out. */
export function addressOf(
  path: readonly string[],
  params: Record<string, string | readonly string[] | undefined> = {}
): string {
  const query = new URLSearchParams()
  const environment = present().params.get('environment') ?? ''
  for (const [name, value] of Object.entries({ environment, ...params })) {
    for (const each of [value ?? []].flat()) if (each !== '') query.append(name, each)
  }
  return `#/${path.map(encodeURIComponent).join('/')}${query.size > 0 ? `?${query}` : ''}`
}

/** Returns the address of a view in another environment. */
export function environmentAddress(view: string, name: string): string {
  return `#/${view}?environment=${encodeURIComponent(name)}`
}

/** The present address with a parameter, or without it. */
export function withParam(name: string, value: string | null): string {
  const { view, rest, params } = present()
  const all = Object.fromEntries([...params.keys()].map((each) => [each, params.getAll(each)]))
  return addressOf([view, ...rest], { ...all, [name]: value ?? undefined })
}

/** Goes to an address; `replace` leaves the present one out of the history. */
export function go(address: string, { replace = false } = {}): void {
  if (address === location.hash) return
  if (!replace) location.hash = address
  else {
    history.replaceState(null, '', address)
    dispatchEvent(new HashChangeEvent('hashchange'))
  }
}

/** The present route; the component renders again when it changes. */
export function useRoute(): Route {
  const [, setHash] = useState(location.hash)
  useEffect(() => {
    const read = () => setHash(location.hash)
    addEventListener('hashchange', read)
    return () => removeEventListener('hashchange', read)
  }, [])
  return present()
}
