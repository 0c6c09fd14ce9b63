import { STATUS_CODES } from 'node:http'
import { type Static, Type } from '@sinclair/typebox'
import { VERSION } from '../../core/package.js'
import { namedObject, ref, strictObject } from '../../core/typebox.js'
import type { RecordedRequest } from './schemas.js'

const text = (description: string) => Type.String({ description })
const whole = (description: string) => Type.Integer({ description })
const NameValue = namedObject('HarNameValue', 'A header or parameter', { name: text('Name'), value: text('Value') })
const pairs = (description: string) => Type.Array(ref(NameValue), { description })
const none = (description: string) => Type.Array(Type.Unknown(), { description, maxItems: 0 })

export const HarEntry = namedObject('HarEntry', 'A request and its response', {
  startedDateTime: text("When it arrived, by the environment's clock"),
  time: Type.Number({ description: 'Milliseconds from its arrival to its end; 0 until then' }),
  request: strictObject(
    {
      method: text('HTTP method'),
      url: text('Whole, by the Host header'),
      httpVersion: text('Version of HTTP'),
      cookies: none('Always empty'),
      headers: pairs('Secrets are replaced by ***'),
      queryString: pairs('Parameters, decoded'),
      postData: Type.Optional(
        strictObject(
          { mimeType: text('Its Content-Type'), text: text('As in the list of requests') },
          { description: 'The body, unless it is empty' }
        )
      ),
      headersSize: whole('Always -1: not known'),
      bodySize: whole('Bytes, or -1: not known')
    },
    { description: 'The request' }
  ),
  response: strictObject(
    {
      status: whole('0 until it is answered'),
      statusText: text('The words of the status'),
      httpVersion: text('Version of HTTP'),
      cookies: none('Always empty'),
      headers: pairs('The x-mock-reason, if there was one: others are not recorded'),
      content: strictObject(
        { size: whole('Bytes of the body'), mimeType: text('application/json') },
        { description: 'The body itself is not recorded' }
      ),
      redirectURL: text('Always empty'),
      headersSize: whole('Always -1: not known'),
      bodySize: whole('Bytes of the body')
    },
    { description: 'The response' }
  ),
  cache: strictObject({}, { description: 'Always empty' }),
  timings: strictObject(
    {
      send: Type.Number({ description: 'Always 0' }),
      wait: Type.Number({ description: 'The same as `time`' }),
      receive: Type.Number({ description: 'Always 0' })
    },
    { description: 'In milliseconds' }
  )
})
type HarEntry = Static<typeof HarEntry>

export const Har = namedObject('Har', 'The requests as HAR 1.2, which browsers and other tools read', {
  log: strictObject(
    {
      version: Type.Literal('1.2', { description: 'Version of the format' }),
      creator: strictObject(
        { name: text('notification-mock'), version: text('Its version') },
        { description: 'What wrote it' }
      ),
      entries: Type.Array(ref(HarEntry), { description: 'The requests, newest last' })
    },
    { description: 'The only field' }
  )
})

/** What stands before and after the entries of a HAR. */
export const HAR_HEAD = `{"log":{"version":"1.2","creator":${JSON.stringify({ name: 'notification-mock', version: VERSION })},"entries":[`
export const HAR_TAIL = ']}}'

/**
 * Returns a recorded request as an entry of a HAR: what is not recorded is empty there, or -1. Parameters are encoded in
 * its URL, unless they were never decoded.
 */
export function toHarEntry(recorded: RecordedRequest, isDecoded: boolean): HarEntry {
  const { time, method, path, query, headers, body, bodyLength, status = 0, size = 0, duration = 0, reason } = recorded
  const queryString = pairsOf(query)
  const search = isDecoded
    ? new URLSearchParams(queryString.map(({ name, value }): [string, string] => [name, value])).toString()
    : queryString.map(({ name, value }) => `${name}=${value}`).join('&')
  const host = [headers.host].flat()[0] ?? 'localhost'
  const [mimeType = ''] = [headers['content-type'] ?? []].flat()
  return {
    startedDateTime: time,
    time: duration,
    request: {
      method,
      url: `http://${host}${path}${search && `?${search}`}`,
      httpVersion: 'HTTP/1.1',
      cookies: [],
      headers: pairsOf(headers),
      queryString,
      ...(body !== undefined && { postData: { mimeType, text: body } }),
      headersSize: -1,
      bodySize: body === undefined ? 0 : (bodyLength ?? -1)
    },
    response: {
      status,
      statusText: STATUS_CODES[status] ?? '',
      httpVersion: 'HTTP/1.1',
      cookies: [],
      headers: reason === undefined ? [] : [{ name: 'x-mock-reason', value: reason }],
      content: { size, mimeType: 'application/json' },
      redirectURL: '',
      headersSize: -1,
      bodySize: size
    },
    cache: {},
    timings: { send: 0, wait: duration, receive: 0 }
  }
}

function pairsOf(values: RecordedRequest['headers']): { name: string; value: string }[] {
  return Object.entries(values).flatMap(([name, value]) => [value].flat().map((each) => ({ name, value: each })))
}
