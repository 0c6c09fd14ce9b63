/**
 * Loaded into a process of our command (`node --import`) to see from outside when it does what, without a word of the
 * command's about it. At its exit it writes to the file BENCH_PROBE, in milliseconds since 1970:
 * { nodeReady, seedRead, opened, commits: [{ begun, done }], listening, and maxRss in bytes }.
 */
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { Server } from 'node:net'

const now = () => performance.timeOrigin + performance.now()
const probed = { nodeReady: now(), commits: [] }

const { readFileSync } = fs
fs.readFileSync = function (file, ...rest) {
  if (/[/\\]seeds[/\\][^/\\]+$/.test(String(file))) probed.seedRead ??= now()
  return readFileSync.call(this, file, ...rest)
}
syncBuiltinESMExports()

const { dlopen } = process
process.dlopen = function (module, file, ...rest) {
  dlopen.call(this, module, file, ...rest)
  if (/better_sqlite3/.test(file)) watch(module.exports.Database.prototype)
}

/** Of the addon's own class, which every query goes through. */
function watch(database) {
  const { prepare, exec } = database
  let watched = false
  let begun
  database.exec = function (source) {
    if (/^BEGIN/i.test(source)) begun = now()
    const result = exec.call(this, source)
    if (/^COMMIT/i.test(source)) probed.commits.push({ begun, done: now() })
    return result
  }
  database.prepare = function (...args) {
    probed.opened ??= now()
    const statement = prepare.apply(this, args)
    if (!watched) {
      watched = true
      watchStatement(Object.getPrototypeOf(statement))
    }
    return statement
  }
}

function watchStatement(statement) {
  const { run } = statement
  let begun
  statement.run = function (...args) {
    const { source } = this
    if (/^BEGIN/i.test(source)) begun = now()
    const result = run.apply(this, args)
    if (/^COMMIT/i.test(source)) probed.commits.push({ begun, done: now() })
    return result
  }
}

const { listen } = Server.prototype
Server.prototype.listen = function (...args) {
  this.once('listening', () => {
    probed.listening ??= now()
  })
  return listen.apply(this, args)
}

process.once('exit', () => {
  // Kilobytes, on all systems.
  probed.maxRss = process.resourceUsage().maxRSS * 1024
  fs.writeFileSync(process.env.BENCH_PROBE, JSON.stringify(probed))
})
