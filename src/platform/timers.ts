import timers from 'node:timers'
import promises from 'node:timers/promises'

/**
 * Node's own timers. The server and its client use them, because a test may replace the global
 * timers and the exports of `node:timers`.
 */
export const { setTimeout, clearTimeout, setInterval, clearInterval, setImmediate } = timers

export const delay = promises.setTimeout

/** Resolves in the next turn of the event loop. */
export const nextTurn = promises.setImmediate
