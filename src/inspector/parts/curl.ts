interface CurlRequest {
  method: string
  url: string
  headers: Readonly<Record<string, string | readonly string[]>>
  body?: string | undefined
}

/** Returns a command line that sends a request, for a POSIX shell: what it consists of with the separator between. */
export function curlOf({ method, url, headers, body }: CurlRequest, separator = ' '): string {
  const sent = Object.entries(headers).flatMap(([name, values]) => [values].flat().map((value) => `${name}: ${value}`))
  return [
    'curl',
    // Told the method alone, curl waits for the body of a HEAD.
    ...(method === 'HEAD' ? ['--head'] : method === 'GET' && body === undefined ? [] : [`-X ${method}`]),
    // Else brackets are ranges.
    ...(/[[\]{}]/.test(url) ? ['--globoff'] : []),
    quoted(url),
    ...sent.map((header) => `-H ${quoted(header)}`),
    ...(body === undefined ? [] : [`--data-raw ${quoted(body)}`])
  ].join(separator)
}

/** Returns a text as one word of a POSIX shell. */
const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`
