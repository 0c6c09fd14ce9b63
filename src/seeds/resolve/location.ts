import { isoTime, parseIsoTime } from '../../domain/clock.js'
import type { Path } from '../../schema/validation.js'
import type { SeedFile } from '../read.js'

export const INVALID_TIME = 'must be an ISO 8601 time such as 2026-02-18T10:07:11.402Z'

/** A place in a seed that issues can be reported at. */
export class SeedLocation {
  readonly file: SeedFile
  readonly #path: Path

  constructor(file: SeedFile, path: Path) {
    this.file = file
    this.#path = path
  }

  at(...path: Path): SeedLocation {
    return new SeedLocation(this.file, this.#path.concat(path))
  }

  /**
   * Reports an issue. The message follows the path, as in "must be …". Pass a function if the
   * message takes long to create: it is called only for the first hundred issues.
   */
  report(message: string | (() => string)): void {
    this.file.issues.push(() => {
      const text = typeof message === 'string' ? message : message()
      return this.file.issueAt(this.#path, text)
    })
  }

  /** Returns the times in these fields as the API formats them. Reports invalid ones. */
  readTimes(record: object, fields: readonly string[]): Record<string, string> {
    const times: Record<string, string> = {}
    for (const field of fields) {
      const value: unknown = record[field as never]
      if (typeof value === 'string') times[field] = this.at(field).readTime(value)
    }
    return times
  }

  readTime(value: string): string {
    const time = parseIsoTime(value)
    if (time !== undefined) return isoTime(time)
    this.report(INVALID_TIME)
    return value
  }

  /** Returns `shop.yaml:4:23`, or the file and the path if there are no lines. */
  describe(): string {
    const { line, location, path } = this.file.issueAt(this.#path, '')
    return line === undefined ? `${location} ${path}`.trim() : location
  }
}
