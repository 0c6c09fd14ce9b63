import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { buildPackage } from './process.js'

export const modules = join(import.meta.dirname, '../../node_modules')

/** Creates a project with these files, this package and the test runners. */
export async function createProject(files: Record<string, string>): Promise<string> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'notification-mock-runners-')))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const links = { 'notification-mock': await buildPackage() }
  for (const name of ['vitest', '@playwright/test'])
    Object.assign(links, { [name]: join(modules, name) })
  for (const [name, target] of Object.entries(links)) {
    const link = join(folder, 'node_modules', name)
    mkdirSync(dirname(link), { recursive: true })
    symlinkSync(target, link)
  }
  for (const [name, text] of Object.entries({ 'package.json': '{ "type": "module" }', ...files })) {
    writeFileSync(join(folder, name), text)
  }
  return folder
}

interface Run {
  code: number
  output: string
}

/** Runs a program from `node_modules/.bin` in a folder. */
export function run(
  folder: string,
  command: string,
  env: Record<string, string> = {}
): Promise<Run> {
  const [name = '', ...args] = command.split(' ')
  return new Promise((resolve) => {
    const options = { cwd: folder, env: { ...envWithoutRunner(), ...env }, maxBuffer: 1e8 }
    execFile(join(modules, '.bin', name), args, options, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code ?? -1) : 0, output: stdout + stderr })
    )
  })
}

/** Returns the environment variables without those that the test runner added. */
export function envWithoutRunner(): Record<string, string | undefined> {
  const added = /^(npm_|VITEST|NODE_ENV$|TEST|FORCE_COLOR$|NOTIFICATION_MOCK_|NODE_OPTIONS$)/
  return {
    ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !added.test(name))),
    NO_COLOR: '1'
  }
}
