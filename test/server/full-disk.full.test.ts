import { execFileSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { type LoggedMock, useLoggedMock } from '../support/logged-mock.js'
import { createTempFolder } from '../support/process.js'

/** Mounts a disk of 4 MB, which requires root. */
function givenDisk(): string {
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
      // No block of this size fits any more.
    }
  }
}

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

/** One request for each kind of write. */
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

test.skipIf(!canMount)(
  'returns 507 and changes nothing for each write to a full disk, serves reads, and writes once there is space',
  async () => {
    const disk = givenDisk()
    const mock = await useLoggedMock({ data: join(disk, 'mock.db') })
    const state = async () => [
      (await mock.get('/_mock/state')).text,
      (await mock.get('/v1/messages')).text
    ]
    const before = await state()
    fill(disk)
    // Writes still succeed while they fit into the write-ahead log.
    while ((await mock.call('/_mock/snapshots/filling', { method: 'PUT' })).status !== 507);
    for (const write of WRITES) {
      const answer = await send(mock, write)
      expect([write[0], answer.status, answer.headers.get('x-mock-reason')]).toEqual([
        write[0],
        507,
        "the data file's disk is full, failing or read-only; nothing was changed; see the log for details"
      ])
      expect(mock.log.findLast(({ level }) => level === 50)).toMatchObject({
        err: { code: 'SQLITE_FULL' }
      })
      mock.log.length = 0
    }
    expect(await state()).toEqual(before)

    rmSync(join(disk, 'ballast'))
    for (const write of WRITES) {
      const { status, headers } = await send(mock, write)
      expect([write[0], Math.floor(status / 100)]).toEqual([write[0], 2])
      expect(headers.get('idempotency-replay')).toBeNull()
    }
  }
)
