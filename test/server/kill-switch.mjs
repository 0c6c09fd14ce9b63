/**
 * A module that kills the server process that loads it, as `kill -9` would. The request header
 * `x-kill-before-step` chooses the moment: 0 is before the first SQL statement of the request, 1
 * before the second, and so on. The last step is the response.
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
