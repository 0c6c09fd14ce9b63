import { type Entry, type Facts, type Kind, shownOf } from './recorded-request.js'
import type { RecordedRequest } from './schemas.js'

/** A request that is kept, ended or not. */
export interface Kept {
  readonly n: number
  readonly place: number
  shown(): RecordedRequest
}

/** Requests to a block, and bytes for the text of each; a longer text is kept as it is. */
const BLOCK = 64
const ROOM = 1024

/** Of each request: n, time, place, duration, status and size. What there isn't is not a number. */
const NUMBERS = 6

/** What few requests have. */
type Rest = Pick<Facts, 'reason' | 'marks' | 'body'> & { text: string | undefined }

/**
 * Room for some requests that are over. All that every request has lies in numbers and bytes, and not in objects: the
 * last thousand would outlive a garbage collection, and to copy them would be a tenth of what a request costs.
 */
interface Block {
  numbers: Float64Array
  bytes: Buffer
  lengths: Uint16Array
  kinds: Kind[]
  rest: (Rest | undefined)[]
  /** Those that somebody has looked at. */
  shown: (RecordedRequest | undefined)[]
}

/** The last requests, up to `capacity` of them, by their numbers, which have no gaps. */
export function shelf(capacity: number) {
  /** Those that go on, and those that have not been filed. */
  const open: (Entry | undefined)[] = []
  const blocks: Block[] = []

  return {
    /** In place of the one that is `capacity` older. */
    add(entry: Entry): void {
      if (capacity > 0) open[entry.n % capacity] = entry
    },

    /** Once it is over: the entry itself is no longer held on to. */
    file(entry: Entry): void {
      const slot = entry.n % capacity
      // It may have been pushed out meanwhile.
      if (open[slot] !== entry) return
      open[slot] = undefined
      store(entry, blockOf(slot), slot % BLOCK)
    },

    /** Lets go of all that are over. */
    clear(): void {
      blocks.length = 0
    },

    /** The request of this number, one of the last `capacity`, and come since it was cleared. */
    at(n: number): Kept {
      const slot = n % capacity
      return open[slot] ?? stored(blockOf(slot), slot % BLOCK)
    }
  }

  function blockOf(slot: number): Block {
    const place = Math.floor(slot / BLOCK)
    blocks[place] ??= newBlock()
    return blocks[place]
  }
}

function newBlock(): Block {
  return {
    numbers: new Float64Array(BLOCK * NUMBERS),
    bytes: Buffer.allocUnsafeSlow(BLOCK * ROOM),
    lengths: new Uint16Array(BLOCK),
    kinds: [],
    rest: [],
    shown: []
  }
}

function store(entry: Entry, { numbers, bytes, lengths, kinds, rest, shown }: Block, place: number): void {
  const { text, reason, marks, body } = entry
  const start = place * NUMBERS
  numbers[start] = entry.n
  numbers[start + 1] = entry.time
  numbers[start + 2] = entry.place
  numbers[start + 3] = entry.duration
  numbers[start + 4] = entry.status ?? Number.NaN
  numbers[start + 5] = entry.size ?? Number.NaN
  // No character of UTF-16 takes more than three bytes.
  const fits = text.length * 3 <= ROOM
  lengths[place] = fits ? bytes.write(text, place * ROOM) : 0
  kinds[place] = entry.kind
  const hasRest = !fits || reason !== undefined || marks !== undefined || body !== undefined
  rest[place] = hasRest ? { reason, marks, body, text: fits ? undefined : text } : undefined
  shown[place] = undefined
}

function stored(block: Block, place: number): Kept {
  const start = place * NUMBERS
  const [n, , answered] = block.numbers.subarray(start) as unknown as [number, number, number]
  return {
    n,
    place: answered,
    shown() {
      block.shown[place] ??= shownOf(factsOf(block, place))
      return block.shown[place]
    }
  }
}

type Numbers = [n: number, time: number, place: number, duration: number, status: number, size: number]

function factsOf({ numbers, bytes, lengths, kinds, rest }: Block, place: number): Facts {
  const [n, time, answered, duration, status, size] = numbers.subarray(place * NUMBERS) as unknown as Numbers
  const { text, ...others } = rest[place] ?? {}
  const start = place * ROOM
  return {
    ...{ n, time, place: answered, duration },
    status: Number.isNaN(status) ? undefined : status,
    size: Number.isNaN(size) ? undefined : size,
    kind: kinds[place] as Kind,
    text: text ?? bytes.toString('utf8', start, start + (lengths[place] as number)),
    ...others
  }
}
