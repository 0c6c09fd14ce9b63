/** Seconds for which what a client has not been sent of its rate is kept for it. */
const BURST = 2
/**
 * What part of the rate is sent while more than the rate come: nobody reads them, and at full load the 600 a second
 * of the inspector took a tenth of the server's time.
 */
const WHILE_MORE = 1 / 12
/** More requests at once are full load, from the first of them on: to send a thousand takes 50 ms of one turn. */
const FLOOD = 500

/**
 * Returns a function that returns the newest of some requests, as many as are left of the rate. A replay begins with all
 * that the journal has, which is no full load, however many they are.
 */
export function createLimit<Entry>(rate: number, isReplay: boolean): (entries: Entry[]) => Entry[] {
  const max = rate * BURST
  let left = max
  let at = performance.now()
  let areMore = false
  let isOld = isReplay
  return (entries) => {
    const isFlood = entries.length > FLOOD && !isOld
    isOld = false
    if (entries.length === 0) return entries
    const now = performance.now()
    const present = areMore ? rate * WHILE_MORE : rate
    left = Math.min(areMore ? Math.max(1, present) : max, left + ((now - at) * present) / 1000)
    if (isFlood) left = Math.min(left, rate * WHILE_MORE)
    areMore = entries.length > left && entries.length * 1000 > (now - at) * rate
    at = now
    const count = Math.min(Math.floor(left), entries.length)
    left -= count
    return entries.slice(entries.length - count)
  }
}
