#!/usr/bin/env node
import { nodeVersionComplaint } from '../core/node-version.js'

// Nothing else may be imported before this: the database addon can end the process on a Node that it doesn't suit.
const complaint = nodeVersionComplaint()
if (complaint) {
  process.stderr.write(`${complaint}\n`)
  process.exit(1)
}
// Once built, this is the one file that everything is bundled into, taken from its code cache.
void import('../bundle.js').then(({ program }) => program()).then(({ run }) => run(process.argv))
