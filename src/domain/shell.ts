/** A request to convert to a curl command. */
export interface CurlRequest {
  method: string
  url: string
  headers: readonly (readonly [name: string, value: string])[]
  body?: string | undefined
  /**
   * A header line with variables that the shell expands, such as `Authorization: ApiKey $API_KEY`.
   * It is the first header of the command.
   */
  expandedHeader?: string | undefined
}

/** Quotes the text so that a POSIX shell reads it as one word. */
export function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

/** Returns a command for a POSIX shell that sends the request. */
export function curlCommand(request: CurlRequest, separator = ' '): string {
  const { url, headers, body, expandedHeader } = request
  const words = ['curl', ...methodFlags(request)]
  // Without --globoff, curl expands brackets and braces to several URLs.
  if (/[[\]{}]/.test(url)) words.push('--globoff')
  words.push(quoteForShell(url))
  if (expandedHeader !== undefined) words.push(`-H "${expandedHeader}"`)
  for (const [name, value] of headers) words.push(`-H ${quoteForShell(headerLine(name, value))}`)
  if (body !== undefined) words.push(`--data-raw ${quoteForShell(body)}`)
  return words.join(separator)
}

function methodFlags({ method, body }: CurlRequest): string[] {
  // With `-X HEAD` instead of `--head`, curl would wait for a body.
  if (method === 'HEAD') return ['--head']
  return method === 'GET' && body === undefined ? [] : [`-X ${method}`]
}

/** Writes an empty header as `name;`, because curl drops a header written as `name:`. */
function headerLine(name: string, value: string): string {
  return value === '' ? `${name};` : `${name}: ${value}`
}
