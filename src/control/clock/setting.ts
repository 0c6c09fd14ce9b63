import { type ClockSetting, isoTime } from '../../core/clock.js'
import { timeOf } from '../../http/validation.js'

/** Returns the setting of a clock, with its time in UTC; that of a mere time fixes it there. Throws `invalid` for no time. */
export function toClockSetting(field: string, wanted: string | ClockSetting): ClockSetting {
  if (typeof wanted === 'string') return { mode: 'fixed', at: isoTime(timeOf(field, wanted)) }
  if (wanted.mode !== 'fixed') return wanted
  return { ...wanted, at: isoTime(timeOf(field === '' ? 'at' : `${field}.at`, wanted.at)) }
}
