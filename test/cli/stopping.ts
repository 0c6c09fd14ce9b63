import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, vi } from 'vitest'
import { integrationRows } from '../support/rows.js'

/** A header with an API key of the default seed. */
export const AUTHORIZATION = { authorization: 'ApiKey development-key' }
/** The path of a POST request that makes another integration of the default seed primary. */
export const SET_PRIMARY = '/v1/integrations/mailgun-eu/set-primary'

export const KEPT = ['--data', 'kept.db']

/**
 * Writes a seed that generates the given number of messages. Generating 400,000 messages takes a
 * server several seconds.
 */
export function writeSeed(folder: string, messages: number): void {
  const workflows = [{ identifier: 'order', steps: [{ type: 'email' }] }]
  const environments = [{ name: 'Shop', apiKeys: ['shop'], workflows, generate: { messages } }]
  writeFileSync(join(folder, 'seed.json'), JSON.stringify({ environments }))
}

/** Resolves when a server starts to write a seed to its data file. */
export const untilSeeding = (folder: string) =>
  vi.waitFor(() => expect(existsSync(join(folder, 'kept.db-wal'))).toBe(true), {
    timeout: 20_000,
    interval: 20
  })

/** Expects an intact data file without SQLite's temporary files, as after a clean stop. */
export function expectCleanFile(folder: string): void {
  expect(readdirSync(folder).filter((name) => name.startsWith('kept.db'))).toEqual(['kept.db'])
  const file = new Database(join(folder, 'kept.db'), { readonly: true })
  expect(file.pragma('integrity_check', { simple: true })).toBe('ok')
  file.close()
}

export function primaryInFile(folder: string): unknown {
  const file = new Database(join(folder, 'kept.db'), { readonly: true })
  const [row] = integrationRows(file).filter(({ identifier }) => identifier === 'mailgun-eu')
  file.close()
  return row?.is_primary
}

/** Resolves when the server is closing, which means that it accepts no new connections. */
export async function untilClosing(url: string): Promise<void> {
  const { port, hostname } = new URL(url)
  while (await acceptsConnections(Number(port), hostname));
}

function acceptsConnections(port: number, host: string): Promise<boolean> {
  return new Promise((settle) => {
    const socket = connect(port, host, () => settle(true)).on('error', () => settle(false))
    socket.once('connect', () => socket.destroy())
  })
}
