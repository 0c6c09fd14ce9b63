/** What a measuring script found. */
export interface Outcome {
  tables: Table[]
  /** By the names that targets.ts judges them by. */
  figures: Record<string, number>
  /** For the plot. */
  series?: Series
  /** What was to be measured and could not be, and why. */
  skipped: { what: string; why: string }[]
}

export interface Table {
  title: string
  columns: string[]
  rows: Cell[][]
}

/** A number is shown to three digits; null is one that there is none of. */
export type Cell = string | number | null

export interface Series {
  title: string
  x: string
  y: string
  lines: { name: string; points: [x: number, y: number][] }[]
}

export interface Measure {
  name: string
  /** What it answers, in one line. */
  question: string
  /** How, in a paragraph for docs/performance.md. */
  method: string
  /** Roughly, of the full run. */
  minutes: number
  run(context: Context): Promise<Outcome>
}

export interface Context {
  /** Small and short: only to see that the scripts work. */
  quick: boolean
  /** Reports what is being done to the person who waits. */
  say(step: string): void
}

/** The table as Markdown, which is also legible as it is. */
export function tableText({ columns, rows }: Pick<Table, 'columns' | 'rows'>): string {
  const cells = [columns, ...rows.map((row) => row.map(cellText))]
  const widths = columns.map((_, index) => Math.max(3, ...cells.map((row) => row[index]?.length ?? 0)))
  const rightAligned = columns.map((_, index) => rows.some((row) => typeof row[index] === 'number'))
  const line = (row: readonly string[]) => {
    const padded = row.map((cell, index) => {
      const width = widths[index] ?? 0
      return rightAligned[index] ? cell.padStart(width) : cell.padEnd(width)
    })
    return `| ${padded.join(' | ')} |`
  }
  const rule = widths.map((width, index) => (rightAligned[index] ? `${'-'.repeat(width - 1)}:` : '-'.repeat(width)))
  const [head = [], ...body] = cells
  return [line(head), line(rule), ...body.map(line)].join('\n')
}

function cellText(cell: Cell): string {
  if (cell === null) return '–'
  if (typeof cell === 'string') return cell
  const digits = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(cell) || 1)))
  return Number(cell.toPrecision(3)).toLocaleString('en', { maximumFractionDigits: Math.min(3, digits) })
}
