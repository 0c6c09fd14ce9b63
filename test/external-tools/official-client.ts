import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Novu } from '@novu/api'
import type * as Errors from '@novu/api/models/errors/index.js'

/** A version of the official client. Describes only the parts that all versions have. */
export interface OfficialClient {
  version: string
  errors: Pick<
    typeof Errors,
    'ErrorDto' | 'ValidationErrorDto' | 'SDKError' | 'ResponseValidationError'
  >
  /** Creates a client that doesn't retry. */
  connect(serverURL: string, secretKey: string): Novu
}

/** Loads a package that is installed next to the given package.json. */
export function loadClient(manifest: string, name: string): OfficialClient {
  const require = createRequire(manifest)
  const { Novu: Client } = require(name)
  return {
    version: require(`${name}/package.json`).version,
    errors: require(`${name}/models/errors/index.js`),
    connect: (serverURL, secretKey) =>
      new Client({ serverURL, secretKey, retryConfig: { strategy: 'none' } })
  }
}

export const OWN_MANIFEST = join(import.meta.dirname, '../../package.json')
