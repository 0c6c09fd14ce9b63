interface CurlRequest {
  method: string
  url: string
  headers: Readonly<Record<string, string>>
  body?: string | undefined
  /** More options, as they stand in the command. */
  options?: readonly string[]
}

/** Returns a command line that sends a request, for a POSIX shell. */
export function curlOf({ method, url, headers, body, options = [] }: CurlRequest): string {
  const isPlain = method === 'GET' && body === undefined && options.length === 0
  return [
    'curl',
    ...options,
    ...(isPlain ? [] : ['-X', method]),
    quoted(url),
    ...Object.entries(headers).flatMap(([name, value]) => ['-H', quoted(`${name}: ${value}`)]),
    ...(body === undefined ? [] : ['--data-raw', quoted(body)])
  ].join(' ')
}

/** Returns a text as one word of a POSIX shell. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
