import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { Script } from 'node:vm'

/** How long after the start what has been compiled is kept for the next one, in milliseconds. */
const ONCE_STARTED = 3000

/**
 * Loads a file with what V8 made of its source at an earlier start, which lies beside it. Without that, or on another
 * Node, V8 compiles it anew, and a process that lives for some seconds leaves what it made of it for the next.
 *
 * The file holds the function that Node makes of a CommonJS module, in ASCII: to wrap or to decode the text here would
 * make further copies of it.
 */
export function requireCached(file: string): unknown {
  const source = readFileSync(file, 'latin1')
  const cache = `${file}.${process.version}-${process.arch}.cache`
  const cachedData = readIfThere(cache)
  const script = new Script(source, { filename: file, ...(cachedData && { cachedData }) })
  const module = { exports: {} }
  script.runInThisContext()(module.exports, createRequire(file), module, file, dirname(file))
  if (!cachedData || script.cachedDataRejected) setTimeout(() => keep(script, cache), ONCE_STARTED).unref()
  return module.exports
}

function readIfThere(file: string): Buffer | undefined {
  try {
    return readFileSync(file)
  } catch {
    return undefined
  }
}

/** In one step, so that a process that starts meanwhile reads all of it or nothing. Where it may not write it keeps none. */
function keep(script: Script, cache: string): void {
  const draft = `${cache}.${process.pid}`
  try {
    writeFileSync(draft, script.createCachedData())
    renameSync(draft, cache)
  } catch {
    rmSync(draft, { force: true })
  }
}
