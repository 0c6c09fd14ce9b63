import { useEffect, useState } from 'preact/hooks'

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

/** Returns the address of a view, in the present environment if none is given. Parameters that are empty are left out. */
export function addressOf(
  path: readonly string[],
  params: Record<string, string | undefined> = {}
): string {
  const all = { environment: present().params.get('environment') ?? '', ...params }
  const query = new URLSearchParams(
    Object.entries(all).flatMap(([name, value]) => (value ? [[name, value]] : []))
  )
  return `#/${path.map(encodeURIComponent).join('/')}${query.size > 0 ? `?${query}` : ''}`
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
