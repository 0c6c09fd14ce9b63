import { addressOf, type Route } from '../../shell/router.js'

/** What a list of requests shows, as the address says it. */
export interface Place {
  /** The sequence of the request that is open; `overview` when none is to be, `hints` when that is to be read. */
  open: number | 'overview' | 'hints' | undefined
  /** The line of search. */
  line: string
  /** Whether it is of those without a valid key. */
  isKeyless: boolean
  /** Returns the address with something else. */
  to(change: Partial<Pick<Place, 'open' | 'line' | 'isKeyless'>>): string
}

/** Returns what the list shows, and what the one of another environment beside it does. */
export function placesOf({ rest, params }: Route): [own: Place, beside: Place] {
  const shown = {
    open: rest[0] ?? '',
    line: params.get('q') ?? '',
    show: params.get('show') ?? '',
    besideOpen: params.get('beside-open') ?? '',
    besideLine: params.get('beside-q') ?? ''
  }
  const address = (change: Partial<typeof shown>) => {
    const { open, line, show, besideOpen, besideLine } = { ...shown, ...change }
    const beside = params.get('beside') ?? ''
    const both = { q: line, show, beside, 'beside-open': besideOpen, 'beside-q': besideLine }
    return addressOf(['requests', ...(open ? [open] : [])], both)
  }
  const own: Place = {
    open: readOpen(shown.open),
    line: shown.line,
    isKeyless: shown.show === 'keyless',
    to: ({ open = own.open, line = own.line, isKeyless = own.isKeyless }) =>
      address({ open: String(open ?? ''), line, show: isKeyless ? 'keyless' : '' })
  }
  const beside: Place = {
    open: readOpen(shown.besideOpen),
    line: shown.besideLine,
    isKeyless: false,
    to: ({ open = beside.open, line = beside.line }) => address({ besideOpen: String(open ?? ''), besideLine: line })
  }
  return [own, beside]
}

function readOpen(text: string): Place['open'] {
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text)
  return text === 'overview' || text === 'hints' ? text : undefined
}
