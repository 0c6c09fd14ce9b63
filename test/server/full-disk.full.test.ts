import { execFileSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type LoggedMock, useLoggedMock } from '../support/logged-mock.js'
import { createTempFolder } from '../support/process.js'

/** Mounts a disk of 4 MB. Only root may do this. */
function mountDisk(): string {
  const disk = createTempFolder()
  execFileSync('/bin/mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', disk])
  onTestFinished(() => {
    execFileSync('/bin/umount', ['-l', disk])
  })
  return disk
}

const canMount = process.platform === 'linux' && process.getuid?.() === 0

function fill(disk: string): void {
  const file = join(disk, 'ballast')
  for (const size of [1_000_000, 100_000, 4096]) {
    try {
      for (;;) writeFileSync(file, Buffer.alloc(size), { flag: 'a' })
    } catch {
      // Blocks of this size no longer fit on the disk.
    }
  }
}

const DISK_FULL =
  "the data file's disk is full, failing or read-only; " +
  'nothing was changed; see the log for details'

const KEY = { 'idempotency-key': 'one' }
const ENVIRONMENT = {
  name: 'Third',
  seed: { environments: [{ name: 'Third', apiKeys: ['third-key-1d2c'] }] }
}
const SEED = {
  environments: [
    { name: 'Shop', integrations: [{ identifier: 'ses', providerId: 'ses', channel: 'email' }] }
  ]
}

/** One request for each kind of write operation. */
const WRITES: [
  name: string,
  path: string,
  method: string,
  headers: Record<string, string>,
  body?: object
][] = [
  ['an operation', '/v1/integrations/mailgun/set-primary', 'POST', {}],
  ['an operation with an idempotency key', '/v1/integrations/mailgun/set-primary', 'POST', KEY],
  ['loading a seed', '/_mock/seed', 'POST', {}, SEED],
  ['taking a snapshot', '/_mock/snapshots/before', 'PUT', {}],
  [
    'setting the clock',
    '/_mock/clock',
    'PUT',
    {},
    { mode: 'fixed', at: '2026-02-18T10:00:00.000Z' }
  ],
  ['creating an environment', '/_mock/environments', 'POST', {}, ENVIRONMENT],
  ['removing an environment', '/_mock/environments/Live', 'DELETE', {}],
  ['a reset', '/_mock/reset', 'POST', {}]
]

async function send(mock: LoggedMock, [, path, method, headers, body]: (typeof WRITES)[number]) {
  return mock.call(path, { method, headers, ...(body && { body: JSON.stringify(body) }) })
}

/**
 * Fills the disk, and then takes snapshots until one fails. The first snapshots may succeed,
 * because they still fit into the write-ahead log.
 */
async function fillUp(disk: string, mock: LoggedMock): Promise<void> {
  fill(disk)
  while ((await mock.call('/_mock/snapshots/filling', { method: 'PUT' })).status !== 507);
}

describe.skipIf(!canMount)('on a full disk', () => {
  test('every write gets 507 and changes nothing', async () => {
    const disk = mountDisk()
    const mock = await useLoggedMock({ data: join(disk, 'mock.db') })
    const state = async () => [
      (await mock.get('/_mock/state')).text,
      (await mock.get('/v1/messages')).text
    ]
    const before = await state()
    await fillUp(disk, mock)
    for (const write of WRITES) {
      const response = await send(mock, write)
      expect([write[0], response.status, response.headers.get('x-mock-reason')]).toEqual([
        write[0],
        507,
        DISK_FULL
      ])
      expect(mock.log.findLast(({ level }) => level === 50)).toMatchObject({
        err: { code: 'SQLITE_FULL' }
      })
      mock.log.length = 0
    }
    expect(await state()).toEqual(before)
  })

  test('every write works as soon as there is space again', async () => {
    const disk = mountDisk()
    const mock = await useLoggedMock({ data: join(disk, 'mock.db') })
    await fillUp(disk, mock)
    for (const write of WRITES) expect((await send(mock, write)).status).toBe(507)
    rmSync(join(disk, 'ballast'))
    for (const write of WRITES) {
      const { status, headers } = await send(mock, write)
      expect([write[0], Math.floor(status / 100)]).toEqual([write[0], 2])
      expect(headers.get('idempotency-replay')).toBeNull()
    }
  })
})
