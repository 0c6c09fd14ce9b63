import { isoTime, parseIsoTime } from '../../domain/clock.js'
import type { Path } from '../../schema/validation.js'
import type { SeedFile } from '../read.js'

export const INVALID_TIME = 'must be an ISO 8601 time such as 2026-02-18T10:07:11.402Z'

/** A location in a seed, where issues can be reported. */
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
   * Reports an issue at this location. The path is printed before the message, so the message has
   * to start with a verb, as in "must be …". If a message is slow to create, pass a function, which
   * is called only for the first 100 issues.
   */
  report(message: string | (() => string)): void {
    this.file.issues.push(() => {
      const text = typeof message === 'string' ? message : message()
      return this.file.issueAt(this.#path, text)
    })
  }

  /**
   * Reads the times in these fields. Returns them in the API's format, and reports invalid times.
   */
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

  /**
   * Returns the file, line and column, such as `shop.yaml:4:23`. If the line is unknown, returns
   * the file and the path in the seed.
   */
  describe(): string {
    const { line, location, path } = this.file.issueAt(this.#path, '')
    return line === undefined ? `${location} ${path}`.trim() : location
  }
}
