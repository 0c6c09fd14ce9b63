const REASONS: Record<string, string> = {
  ECONNREFUSED: 'refused the connection: start it, or set another URL with --fallback',
  ECONNRESET: 'closed the connection before its response was complete: see its log',
  EPIPE: 'closed the connection before it had read the request: see its log',
  ENOTFOUND: 'has an unknown host name: set another URL with --fallback',
  EAI_AGAIN: 'has a host name that could not be resolved: set another URL with --fallback'
}

/** Returns why a request failed, as the end of a sentence that starts with the server's name. */
export function describeFailure(error: unknown, timeout: number): string {
  const { code = '', message } = error as NodeJS.ErrnoException
  if (code === 'ETIMEDOUT' || /_TIMEOUT$/.test(code)) {
    return `sent nothing for ${timeout} ms: see its log, or set a longer --fallback-timeout`
  }
  if (code.startsWith('HPE_')) return `sent a malformed response: ${message}`
  return REASONS[code] ?? `could not be reached: ${message}`
}
