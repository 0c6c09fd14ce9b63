import timers from 'node:timers'
import promises from 'node:timers/promises'

/**
 * Node's own timers. The server and its client use these, because a test may replace the global
 * timers and those of `node:timers`.
 */
export const { setTimeout, clearTimeout, setInterval, clearInterval, setImmediate } = timers

export const delay = promises.setTimeout
