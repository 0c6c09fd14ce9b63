/** Counts turns of the event loop until it is called. */
export function countTurns(): () => number {
  let turns = 0
  let isDone = false
  const count = () => {
    turns += 1
    if (!isDone) setImmediate(count)
  }
  setImmediate(count)
  return () => {
    isDone = true
    return turns
  }
}
