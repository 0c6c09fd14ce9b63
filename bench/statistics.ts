export function median(values: readonly number[]): number {
  return quantile(values, 0.5)
}

/** The value that this share of them, from 0 to 1, does not exceed; between two, on the line from one to the other. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  const rank = (sorted.length - 1) * share
  const [below, above] = [sorted[Math.floor(rank)], sorted[Math.ceil(rank)]]
  if (below === undefined || above === undefined) throw new Error('there is no quantile of nothing')
  return below + (above - below) * (rank - Math.floor(rank))
}

/** The median of the ratios of what was measured side by side: what slows both down for a while falls out. */
export function pairedRatio(ours: readonly number[], theirs: readonly number[]): number {
  return median(pairedRatios(ours, theirs))
}

/** Each of `ours` over the one of `theirs` that was measured right after it. */
export function pairedRatios(ours: readonly number[], theirs: readonly number[]): number[] {
  if (ours.length !== theirs.length) throw new Error(`${ours.length} measurements have no pairs in ${theirs.length}`)
  return ours.map((value, index) => value / (theirs[index] ?? Number.NaN))
}

/** To three digits: more would claim to be repeatable. */
export function rounded(value: number): number {
  return Number(value.toPrecision(3))
}
