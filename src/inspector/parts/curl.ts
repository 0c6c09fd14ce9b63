interface CurlRequest {
  method: string
  url: string
  headers: Readonly<Record<string, string | readonly string[]>>
  body?: string | undefined
  /** More options, as they stand in the command. */
  options?: readonly string[]
}

/** Returns a command line that sends a request, for a POSIX shell: what it consists of with the separator between. */
export function curlOf({ method, url, headers, body, options = [] }: CurlRequest, separator = ' '): string {
  const isPlain = method === 'GET' && body === undefined && options.length === 0
  const sent = Object.entries(headers).flatMap(([name, values]) => [values].flat().map((value) => `${name}: ${value}`))
  return [
    'curl',
    ...options,
    // Told the method alone, curl waits for the body of a HEAD.
    ...(method === 'HEAD' ? ['--head'] : isPlain ? [] : [`-X ${method}`]),
    // Else brackets are ranges.
    ...(/[[\]{}]/.test(url) ? ['--globoff'] : []),
    quoted(url),
    ...sent.map((header) => `-H ${quoted(header)}`),
    ...(body === undefined ? [] : [`--data-raw ${quoted(body)}`])
  ].join(separator)
}

/** Returns a text as one word of a POSIX shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
