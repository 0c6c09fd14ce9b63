import { styleText } from 'node:util'
import { isoTime } from '../core/clock.js'
import type { RequestFacts } from '../http/log.js'

/** A line of the log about a request. */
type RequestLine = RequestFacts & { time: number; msg: string; reason?: string; fault?: string; err?: unknown }

type Style = Parameters<typeof styleText>[0]

/**
 * Returns a line of the log for a person, if it is about a request that was answered, refused or got a fault:
 * `10:00:01 GET /v1/messages?limit=0 422 1.2 ms Development: limit must be ...`. Undefined for any other.
 */
export function formatRequest(json: string, colorize: boolean): string | undefined {
  const line = JSON.parse(json) as RequestLine
  if (line.method === undefined || line.err !== undefined) return undefined
  const { time, method, url = '(malformed path)', statusCode, ms, environment, fault, msg, reason } = line
  const style = (as: Style, text: string) => (colorize ? styleText(as, text) : text)
  const words = fault === undefined ? reason : msg
  const facts = [
    style('dim', clockTime(time)),
    method,
    url,
    statusCode && style(styleOf(statusCode), String(statusCode)),
    style('dim', `${ms.toFixed(1)} ms`),
    environment
  ]
  const text = facts.filter((fact) => fact !== undefined).join(' ')
  return `${words === undefined ? text : `${text}: ${fault === undefined ? words : style('magenta', words)}`}\n`
}

/** The time of day, in the zone of the machine. */
function clockTime(time: number): string {
  return isoTime(time - new Date(time).getTimezoneOffset() * 60_000).slice(11, 19)
}

function styleOf(status: number): Style {
  if (status < 400) return 'green'
  return status < 500 ? 'yellow' : 'red'
}
