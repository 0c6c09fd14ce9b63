/** One thing that was measured. Without a bound it is told, and not judged. */
export interface Figure {
  what: string
  value: number
  unit: 'of bare Fastify' | 'times' | 'ms' | 's' | 'MB' | 'KB' | 'requests/s'
  atLeast?: number
  atMost?: number
}

export interface Measure {
  name: string
  minutes: number
  /** How it is measured, in a paragraph for docs/contributing/performance.md. */
  method: string
  /** `say` tells the person who waits what is being done. */
  run(say: (step: string) => void): Promise<Figure[]>
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = (sorted.length - 1) / 2
  const [below, above] = [sorted[Math.floor(middle)], sorted[Math.ceil(middle)]]
  if (below === undefined || above === undefined) throw new Error('there is no median of nothing')
  return (below + above) / 2
}

/** The median of the ratios of what was measured side by side: what slows both down for a while falls out. */
export function pairedRatio(ours: readonly number[], theirs: readonly number[]): number {
  if (ours.length !== theirs.length)
    throw new Error(`${ours.length} measurements have no pairs in ${theirs.length}`)
  return median(ours.map((value, index) => value / (theirs[index] ?? Number.NaN)))
}

export type Verdict = 'met' | 'missed' | ''

export function verdictOn({ value, atLeast, atMost }: Figure): Verdict {
  if (atLeast === undefined && atMost === undefined) return ''
  return value >= (atLeast ?? Number.NEGATIVE_INFINITY) &&
    value <= (atMost ?? Number.POSITIVE_INFINITY)
    ? 'met'
    : 'missed'
}

/** Returns the figures as a Markdown table, which is also legible as it is. */
export function tableOf(figures: readonly Figure[]): string {
  const rows = figures.map((figure) => {
    const { what, value, unit, atLeast, atMost } = figure
    const aim =
      atLeast !== undefined
        ? `≥ ${format(atLeast)}`
        : atMost !== undefined
          ? `≤ ${format(atMost)}`
          : ''
    return [what, format(value), unit, aim, verdictOn(figure)]
  })
  const all = [['what', 'measured', 'unit', 'aim', 'verdict'], ...rows]
  const widths = [0, 1, 2, 3, 4].map((column) =>
    Math.max(...all.map((row) => row[column]?.length ?? 0))
  )
  const line = (row: readonly string[]) =>
    `| ${row.map((cell, column) => (column === 1 ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0))).join(' | ')} |`
  const rule = widths.map((width, column) =>
    column === 1 ? `${'-'.repeat(width - 1)}:` : '-'.repeat(width)
  )
  const [head = [], ...body] = all
  return [line(head), line(rule), ...body.map(line)].join('\n')
}

/** To three digits: more would claim to be repeatable. */
function format(value: number): string {
  const digits = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value) || 1)))
  return Number(value.toPrecision(3)).toLocaleString('en', {
    maximumFractionDigits: Math.min(3, digits)
  })
}
