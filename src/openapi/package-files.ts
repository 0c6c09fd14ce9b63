import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DomainError } from '../domain/errors.js'
import { packageRoot } from '../platform/package.js'

const NOT_BUILT = '`npm run build` creates it in dist/; the API itself works without it'

/**
 * Reads a file of this package. Rejects with `not-found`, and `reason`, if the file doesn't exist.
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
 * Returns the headers of an HTML page: it loads nothing but the given scripts and its own styles,
 * connects only to the given sources, and no other site may frame it.
 */
export function pageHeaders(scripts: string, connections: string): Record<string, string> {
  const policy = [
    "default-src 'none'",
    `script-src ${scripts}`,
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    `connect-src ${connections}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'"
  ]
  return { 'content-security-policy': policy.join('; '), 'x-content-type-options': 'nosniff' }
}
