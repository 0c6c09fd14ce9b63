/** A request to show as a curl command. */
export interface CurlRequest {
  method: string
  url: string
  headers: readonly (readonly [name: string, value: string])[]
  body?: string | undefined
  /**
   * A header line with shell variables: `Authorization: ApiKey $API_KEY`. The shell expands them.
   * The line comes first.
   */
  expandedHeader?: string | undefined
}

/** Returns the text as one word of a POSIX shell. */
export function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

/** Returns a command for a POSIX shell that sends the request. */
export function curlCommand(request: CurlRequest, separator = ' '): string {
  const { url, headers, body, expandedHeader } = request
  const words = ['curl', ...methodFlags(request)]
  // Without --globoff, curl reads brackets and braces as ranges.
  if (/[[\]{}]/.test(url)) words.push('--globoff')
  words.push(quoteForShell(url))
  if (expandedHeader !== undefined) words.push(`-H "${expandedHeader}"`)
  for (const [name, value] of headers) words.push(`-H ${quoteForShell(headerLine(name, value))}`)
  if (body !== undefined) words.push(`--data-raw ${quoteForShell(body)}`)
  return words.join(separator)
}

function methodFlags({ method, body }: CurlRequest): string[] {
  // With `-X HEAD`, curl waits for a body.
  if (method === 'HEAD') return ['--head']
  return method === 'GET' && body === undefined ? [] : [`-X ${method}`]
}

/** curl drops a header that has no value unless its name ends with a semicolon. */
function headerLine(name: string, value: string): string {
  return value === '' ? `${name};` : `${name}: ${value}`
}
