import type { Machine } from './machine.js'
import type { Outcome, Table } from './outcome.js'
import type { Verdict } from './targets.js'

/** What a run leaves in bench/results. */
export interface Results {
  startedAt: string
  finishedAt: string
  /** Only a trial of the scripts: its figures mean nothing, and no target is judged by them. */
  quick: boolean
  commit: string
  dirty: boolean
  machine: Machine
  versions: Record<string, string>
  measures: Measured[]
  verdicts: Verdict[]
}

export interface Measured extends Outcome {
  name: string
  question: string
  method: string
  seconds: number
}

/** The verdicts as a table, in the order of the targets. */
export function verdictTable(verdicts: readonly Verdict[]): Pick<Table, 'columns' | 'rows'> {
  return {
    columns: ['aim', 'target', 'measured', 'unit', 'verdict'],
    rows: verdicts.map(({ says, target, value, unit, verdict }) => [says, target, value, unit, verdict])
  }
}
