#!/usr/bin/env node
import * as module from 'node:module'
import { unsupportedNodeMessage } from '../platform/package.js'

// These functions cache compiled code for the next start. Node 20 lacks them.
const { enableCompileCache, flushCompileCache } = module as {
  enableCompileCache?(): void
  flushCompileCache?(): void
}
enableCompileCache?.()

// Import everything else after this check, because the database addon can crash old Node versions.
const unsupported = unsupportedNodeMessage()
if (unsupported) {
  process.stderr.write(`${unsupported}\n`)
  process.exit(1)
}
const { run } = await import('./program.js')
await run(process.argv)
// Write the cache now, because a process that is killed can't write it later.
flushCompileCache?.()
