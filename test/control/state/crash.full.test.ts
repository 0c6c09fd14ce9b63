import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test, vi } from 'vitest'
import { buildServices } from '../../../src/control/services.js'
import { openDatabase } from '../../../src/db/open.js'
import { givenProgram } from '../../support/process.js'
import { expectSound } from '../environments/environment-client.js'

let program = ''

/** So many in CI; more with `KILLS=200`. */
const KILLS = Number(process.env.KILLS ?? 20)
const WORKS = ['restore', 'reset', 'fork', 'restore', 'merge', 'fork', 'replace', 'remove']

/** `CRASH_SEED=<number>` kills after the same changes again. */
const RANDOM_SEED = Number(process.env.CRASH_SEED ?? Date.now() % 1_000_000)

test(`killed ${KILLS} times in the middle of a restore, a reset or a fork, a data file is as before or as after`, {
  timeout: 600_000
}, async () => {
  console.info(`CRASH_SEED=${RANDOM_SEED}`)
  const folder = mkdtempSync(join(tmpdir(), 'notification-mock-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'data.db')
  program = await givenProgram(fileURLToPath(new URL('crash-child.ts', import.meta.url)))
  await runs(file, 'prepare', 0, null)
  await runs(file, 'fork', 2, null)

  let state = ''
  for (let kill = 0; kill < KILLS; kill++) {
    const work = WORKS[kill % WORKS.length] ?? ''
    const told = await runs(file, work, share(kill), 'SIGKILL')
    expect(told.changes).toBeGreaterThan(0)
    // Killed before its end the last work has left everything as it was.
    if (state !== '') expect(told.before, `after kill ${kill - 1}`).toBe(state)
    state = told.before
    await expectWhole(file)
    // And what is left can be worked on: after every fifth kill the work is done to its end.
    if (kill % 5 !== 4) continue
    const whole = await runs(file, work, 2, null)
    expect([whole.before, whole.changes]).toEqual([told.before, told.changes])
    expect(whole.after).toBe(told.after)
    state = whole.after
    await expectWhole(file)
  }
})

/** At the first change, at the last, and anywhere between. */
function share(kill: number): number {
  if (kill % 8 === 0) return 0
  if (kill % 8 === 1) return 1
  const mixed = Math.sin(RANDOM_SEED + kill) * 10_000
  return mixed - Math.floor(mixed)
}

/** Once the next start has deleted what nothing refers to any more. */
async function expectWhole(file: string): Promise<void> {
  const { db, close } = openDatabase(file)
  try {
    expect(db.client.pragma('integrity_check')).toEqual([{ integrity_check: 'ok' }])
    buildServices({ db, clock: Date.now, defaults: { profile: 'document', assumptions: {} }, journal: 0 })
    await vi.waitFor(() => expectSound(db), { timeout: 30_000 })
  } finally {
    close()
  }
}

interface Told {
  before: string
  after: string
  changes: number
}

/** Does the work in a process of its own, which ends as told: by its own kill, or well. */
async function runs(file: string, work: string, share: number, signal: NodeJS.Signals | null): Promise<Told> {
  const child = spawn(process.execPath, [program, file, work, String(share)], { stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = new Promise<NodeJS.Signals | null>((resolve) => child.on('exit', (_code, by) => resolve(by)))
  const [out, errors] = await Promise.all([text(child.stdout), text(child.stderr)])
  expect([await ended, child.exitCode ?? 0, errors.replace(/^.*Warning.*\n/gm, '')]).toEqual([signal, 0, ''])
  return out === '' ? { before: '', after: '', changes: 0 } : JSON.parse(out)
}
