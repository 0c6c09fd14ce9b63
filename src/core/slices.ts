import { setImmediate } from 'node:timers/promises'

/** How long long work may keep the event loop from everything else, in milliseconds. */
const SLICE = 10

let last: Promise<unknown> = Promise.resolve()
/** Whether a slice has run in this turn of the event loop. */
let isTaken = false

/** Resolves in a later turn of the event loop, of which no other caller gets the same: so one slice runs per turn. */
export function nextTurn(): Promise<unknown> {
  last = last.then(() => setImmediate())
  return last
}

function takeTurn(): void {
  isTaken = true
  setImmediate().then(() => {
    isTaken = false
  })
}

/** Takes steps until a slice of time has passed or the work is done. Returns the last step. */
export function runSlice<Step, Result>(steps: Iterator<Step, Result>): IteratorResult<Step, Result> {
  const end = performance.now() + SLICE
  let step = steps.next()
  while (!step.done && performance.now() < end) step = steps.next()
  return step
}

/** Takes all steps at once. Returns what the work returns. */
export function runToEnd<Result>(steps: Iterator<unknown, Result>): Result {
  let step = steps.next()
  while (!step.done) step = steps.next()
  return step.value
}

/**
 * Takes all steps, in slices, the first one at once if no other has run in this turn of the event loop: many requests may
 * come in one. Resolves to what the work returns. When `check`, which is called between slices, throws, the work is ended
 * and it rejects with that.
 */
export async function runInSlices<Result>(steps: Generator<unknown, Result>, check = () => {}): Promise<Result> {
  try {
    if (isTaken) {
      await nextTurn()
      check()
    }
    for (;;) {
      takeTurn()
      const step = runSlice(steps)
      if (step.done) return step.value
      await nextTurn()
      check()
    }
  } finally {
    steps.return(undefined as never)
  }
}

/** In characters. */
export const MAX_CHUNK = 1 << 18

/** Joins pieces of text to chunks, of which only the last is smaller than `MAX_CHUNK`, and makes them in slices. */
export async function* toChunks(pieces: Iterable<string>): AsyncGenerator<string, void> {
  let text = ''
  let end = performance.now() + SLICE
  for (const piece of pieces) {
    text += piece
    if (text.length >= MAX_CHUNK) {
      yield text
      text = ''
    }
    if (performance.now() < end) continue
    await nextTurn()
    end = performance.now() + SLICE
  }
  yield text
}
