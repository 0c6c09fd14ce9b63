import { useEffect, useState } from 'preact/hooks'

/** What of the report is open. The address has it, so that it can be sent to somebody who has the file. */
export interface Place {
  /** A test by its number, `others` or `coverage`. */
  entry: string | undefined
  tab: string | undefined
  /** A request of the tab by its sequence. */
  sequence: number | undefined
}

export function hrefOf({ entry, tab, sequence }: Partial<Place>): string {
  return `#${[entry, tab, sequence].filter((part) => part !== undefined).join('/')}`
}

/** Returns what is open, and keeps to the address. */
export function usePlace(): Place {
  const [hash, setHash] = useState(location.hash)
  useEffect(() => {
    const follow = () => setHash(location.hash)
    addEventListener('hashchange', follow)
    return () => removeEventListener('hashchange', follow)
  }, [])
  const [entry, tab, sequence] = hash.slice(1).split('/')
  return { entry: entry || undefined, tab: tab || undefined, sequence: sequence ? Number(sequence) : undefined }
}

/** Opens a place in place of the one that is open: one does not go back through each row that was passed. */
export function open(place: Partial<Place>): void {
  history.replaceState(null, '', hrefOf(place))
  dispatchEvent(new HashChangeEvent('hashchange'))
}
