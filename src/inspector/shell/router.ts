import { useEffect, useState } from 'preact/hooks'

/** Where the page is: a view, what it shows of it, and the environment if it is not the first one. */
export interface Route {
  /** The first segment, such as `messages`. */
  view: string
  /** What comes after it, such as an id. */
  rest: string[]
  params: URLSearchParams
}

/** Reads an address such as `#/messages?channel=email`. */
export function parseHash(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split(/\?(.*)/s)
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
  for (const [name, value] of Object.entries({ ...environmentParam(), ...params })) {
    for (const each of [value ?? []].flat()) if (each !== '') query.append(name, each)
  }
  const text = query.toString()
  return `#/${path.map(encodeURIComponent).join('/')}${text && `?${text}`}`
}

function environmentParam(): Record<string, string> {
  const name = parseHash(location.hash).params.get('environment')
  return name === null ? {} : { environment: name }
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
  const [hash, setHash] = useState(location.hash)
  useEffect(() => {
    const read = () => setHash(location.hash)
    addEventListener('hashchange', read)
    return () => removeEventListener('hashchange', read)
  }, [])
  return parseHash(hash)
}
