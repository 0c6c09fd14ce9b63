/**
 * Kills the server process that loads this module, as `kill -9` would. The request header
 * `x-kill-before-step` chooses the moment: 0 means before the request's first SQL statement, 1
 * means before the second one, and so on. The step after the last SQL statement is the response.
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
