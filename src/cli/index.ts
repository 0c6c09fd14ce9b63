#!/usr/bin/env node
import { nodeVersionComplaint } from '../node-version.js'

// Nothing else may be imported before this: the database addon can end the process on a Node that it doesn't suit.
const complaint = nodeVersionComplaint()
if (complaint) {
  process.stderr.write(`${complaint}\n`)
  process.exit(1)
}
const { run } = await import('./program.js')
await run(process.argv)
