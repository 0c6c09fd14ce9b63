/** The headers of a page of ours. It loads nothing but what `sources` allows beside the other headers, and no other site shows it. */
export function pageHeaders(sources: readonly string[]): Record<string, string> {
  const policy = ["default-src 'none'", ...sources, "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"]
  return { 'content-security-policy': policy.join('; '), 'x-content-type-options': 'nosniff' }
}
