#!/usr/bin/env node
import * as module from 'node:module'
import { unsupportedNodeMessage } from '../platform/package.js'

// Caches compiled code for the next start. Node 20 lacks these functions.
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
// Flush now, because the process may be killed.
flushCompileCache?.()
