/** Something wrong with a seed: where, in words, and what. */
export interface SeedMistake {
  file: string
  /** From 1, like columns. Absent when there is no telling where, or no text that the user could look at. */
  line?: number
  column?: number
  /** `environments[0].integrations[1].channel`; empty for the file as a whole. */
  path: string
  message: string
}

/** Everything that is wrong with the seeds, all at once. Nothing of them has been applied. */
export class SeedError extends Error {
  override readonly name = 'SeedError'
  readonly mistakes: readonly SeedMistake[]

  constructor(mistakes: readonly SeedMistake[]) {
    super(mistakes.map(lineOf).join('\n'))
    this.mistakes = mistakes
  }
}

/** `seeds/shop.yaml:12:7 environments[0].name: must be a string` */
function lineOf(mistake: SeedMistake): string {
  const { path, message } = mistake
  return path === '' ? `${placeOf(mistake)}: ${message}` : `${placeOf(mistake)} ${path}: ${message}`
}

/** `seeds/shop.yaml:12:7`: what an editor or a terminal opens at a click. */
export function placeOf({ file, line, column }: SeedMistake): string {
  return line === undefined ? file : `${file}:${line}:${column}`
}

export function inOrderOfText(one: SeedMistake, other: SeedMistake): number {
  return (one.line ?? 0) - (other.line ?? 0) || (one.column ?? 0) - (other.column ?? 0)
}
