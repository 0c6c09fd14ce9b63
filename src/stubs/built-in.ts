import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { StubSet } from '../domain/stub.js'
import { packageRoot } from '../platform/package.js'
import type { SeedStub } from './schemas.js'

/**
 * Returns the stubs of a built-in set. Their responses are static and contain just enough for
 * Novu's official clients to accept them.
 */
export function readStubSet(name: StubSet): SeedStub[] {
  return JSON.parse(readFileSync(join(packageRoot(), `seeds/stubs/${name}.json`), 'utf8'))
}
