/**
 * Kills the server process that loads this module, as `kill -9` would. The steps of a request are
 * its SQL statements, numbered from 0, and then its response. The request header
 * `x-kill-before-step` has the number of the step before which the server is killed.
 */
import { subscribe } from 'node:diagnostics_channel'
import { ServerResponse } from 'node:http'
import Database from 'better-sqlite3'

let stepsLeft = Number.POSITIVE_INFINITY
subscribe('http.server.request.start', ({ request }) => {
  stepsLeft = Number(request.headers['x-kill-before-step'] ?? Number.POSITIVE_INFINITY)
})

const Statement = Object.getPrototypeOf(new Database(':memory:').prepare('SELECT 1'))
for (const method of ['run', 'get', 'all']) killBefore(Statement, method)
killBefore(ServerResponse.prototype, 'writeHead')

function killBefore(prototype, method) {
  const original = prototype[method]
  prototype[method] = function (...parameters) {
    if (stepsLeft === 0) process.kill(process.pid, 'SIGKILL')
    stepsLeft -= 1
    return original.apply(this, parameters)
  }
}
