#!/usr/bin/env node
import * as module from 'node:module'
import { unsupportedNodeMessage } from '../platform/package.js'

// Keeps what V8 compiles for the next start. Node 20 has no such cache.
const { enableCompileCache, flushCompileCache } = module as {
  enableCompileCache?(): void
  flushCompileCache?(): void
}
enableCompileCache?.()

// Everything else is imported after this check: the database addon can crash on a Node that it was not made for.
const unsupported = unsupportedNodeMessage()
if (unsupported) {
  process.stderr.write(`${unsupported}\n`)
  process.exit(1)
}
const { run } = await import('./program.js')
await run(process.argv)
// Not left to the end of the process, which may be killed.
flushCompileCache?.()
