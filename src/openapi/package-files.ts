import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DomainError } from '../domain/errors.js'
import { packageRoot } from '../platform/package.js'

const NOT_BUILT = '`npm run build` creates this file in dist/; the API itself works without it'

/**
 * Reads a file in this package. If the file doesn't exist, rejects with the error `not-found`,
 * which contains `reason`.
 */
export async function readPackageFile(path: string, reason = NOT_BUILT): Promise<Buffer> {
  try {
    return await readFile(join(packageRoot(), path))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    throw new DomainError('not-found', 'There is no page here', { reason })
  }
}

/**
 * Returns security headers for an HTML page. They allow only the given scripts, the page's own
 * styles and images, and connections to the given sources. No site may show the page in a frame.
 */
export function pageHeaders(scripts: string, connections: string): Record<string, string> {
  const policy = [
    "default-src 'none'",
    `script-src ${scripts}`,
    // The inspector shows emails in frames that inherit this policy, and emails need inline styles.
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    `connect-src ${connections}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'"
  ]
  return { 'content-security-policy': policy.join('; '), 'x-content-type-options': 'nosniff' }
}
