import { isoTime, parseIsoTime } from '../../domain/clock.js'
import { parseRecordTime, type TimeReading } from '../../domain/record-times.js'
import type { Path } from '../../schema/validation.js'
import type { SeedFile } from '../read.js'

export const INVALID_TIME = 'must be an ISO 8601 time such as 2026-02-18T10:07:11.402Z'

const INVALID_RECORD_TIME = `${INVALID_TIME}, or a time relative to now, such as -2h or +3d`
const ZONE_MISSING = 'must end with its time zone: Z for UTC, or an offset such as +02:00'
const OUT_OF_RANGE = 'must be in a year from 0 to 9999'

/** A location in a seed, where issues can be reported. */
export class SeedLocation {
  readonly file: SeedFile
  readonly #path: Path
  readonly #times: TimeReading

  constructor(file: SeedFile, path: Path, times: TimeReading = { now: 0, shift: 0 }) {
    this.file = file
    this.#path = path
    this.#times = times
  }

  at(...path: Path): SeedLocation {
    return new SeedLocation(this.file, this.#path.concat(path), this.#times)
  }

  /** Returns a copy of the location whose `readTimes` uses these settings. */
  withTimes(times: TimeReading): SeedLocation {
    return new SeedLocation(this.file, this.#path, times)
  }

  /**
   * Reports an issue at this location. The path is printed before the message, so start the message
   * with a verb, as in "must be …". If a message is slow to create, pass a function, which is
   * called only for the first 100 issues.
   */
  report(message: string | (() => string)): void {
    this.file.issues.push(() => {
      const text = typeof message === 'string' ? message : message()
      return this.file.issueAt(this.#path, text)
    })
  }

  /**
   * Reads the times and lists of times in these fields. Returns them in the API's format, and
   * reports invalid times.
   */
  readTimes<Fields extends object, Name extends keyof Fields & string>(
    record: Fields,
    names: readonly Name[]
  ): Partial<Pick<Fields, Name>> {
    const times: Record<string, string | string[]> = {}
    for (const name of names) {
      const value: unknown = record[name]
      if (value === undefined) continue
      const at = this.at(name)
      if (typeof value === 'string') times[name] = at.#readTime(value)
      if (Array.isArray(value)) {
        times[name] = value.map((time: string, index) => at.at(index).#readTime(time))
      }
    }
    return times as Partial<Pick<Fields, Name>>
  }

  #readTime(value: string): string {
    const time = parseRecordTime(value, this.#times)
    if (time === undefined) {
      const isZoneMissing = parseIsoTime(`${value}Z`) !== undefined
      this.report(isZoneMissing ? ZONE_MISSING : INVALID_RECORD_TIME)
      return value
    }
    const year = new Date(time).getUTCFullYear()
    if (year >= 0 && year <= 9999) return isoTime(time)
    this.report(OUT_OF_RANGE)
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
