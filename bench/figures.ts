/** A measured value. Its aim is `atLeast` or `atMost`. Without an aim, it has no verdict. */
export interface Figure {
  name: string
  value: number
  unit: 'of bare Fastify' | 'times' | 'ms' | 's' | 'MB' | 'KB' | 'requests/s'
  atLeast?: number
  atMost?: number
}

export interface Measure {
  name: string
  minutes: number
  /** How the figures are measured, as a paragraph for docs/contributing/performance.md. */
  method: string
  /** Calls `progress` with a description of each step. */
  run(progress: (step: string) => void): Promise<Figure[]>
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = (sorted.length - 1) / 2
  const [below, above] = [sorted[Math.floor(middle)], sorted[Math.ceil(middle)]]
  if (below === undefined || above === undefined)
    throw new Error('there are no values to take the median of')
  return (below + above) / 2
}

/**
 * Returns the median of all `ours[i] / theirs[i]`. A disturbance that slows down both measurements
 * of a pair doesn't change their ratio.
 */
export function pairedRatio(ours: readonly number[], theirs: readonly number[]): number {
  if (ours.length !== theirs.length)
    throw new Error(`can't pair ${ours.length} measurements with ${theirs.length}`)
  return median(ours.map((value, index) => value / (theirs[index] ?? Number.NaN)))
}

export type Verdict = 'met' | 'missed' | ''

export function verdictOf({ value, atLeast, atMost }: Figure): Verdict {
  if (atLeast === undefined && atMost === undefined) return ''
  return value >= (atLeast ?? Number.NEGATIVE_INFINITY) &&
    value <= (atMost ?? Number.POSITIVE_INFINITY)
    ? 'met'
    : 'missed'
}

/** Returns the figures as an aligned Markdown table. */
export function formatTable(figures: readonly Figure[]): string {
  const rows = figures.map((figure) => {
    const { name, value, unit } = figure
    return [name, format(value), unit, formatAim(figure), verdictOf(figure)]
  })
  const all = [['what', 'measured', 'unit', 'aim', 'verdict'], ...rows]
  const widths = [0, 1, 2, 3, 4].map((column) =>
    Math.max(...all.map((row) => row[column]?.length ?? 0))
  )
  const pad = (cell: string, column: number) => {
    const width = widths[column] ?? 0
    return column === 1 ? cell.padStart(width) : cell.padEnd(width)
  }
  const line = (row: readonly string[]) => `| ${row.map(pad).join(' | ')} |`
  const rule = widths.map((width, column) =>
    column === 1 ? `${'-'.repeat(width - 1)}:` : '-'.repeat(width)
  )
  const [head = [], ...body] = all
  return [line(head), line(rule), ...body.map(line)].join('\n')
}

function formatAim({ atLeast, atMost }: Figure): string {
  if (atLeast !== undefined) return `≥ ${format(atLeast)}`
  return atMost === undefined ? '' : `≤ ${format(atMost)}`
}

/** Rounds to three significant digits, because further digits differ from run to run. */
function format(value: number): string {
  const digits = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value) || 1)))
  return Number(value.toPrecision(3)).toLocaleString('en', {
    maximumFractionDigits: Math.min(3, digits)
  })
}
