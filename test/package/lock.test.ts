import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '../..')
const read = (name: string) => JSON.parse(readFileSync(join(root, name), 'utf8'))
const manifest = read('package.json')
const lock: Record<string, Record<string, unknown>> = read('package-lock.json').packages

test('the lock has the database addon that brings its binaries along, and that npm leaves out on Node 20', () => {
  expect(manifest.optionalDependencies).toHaveProperty('better-sqlite3')
  expect(lock['node_modules/better-sqlite3']).toMatchObject({ optional: true, engines: { node: '>=22' } })
})

test('the lock says that the addon needs no compiling, which `npm install` forgets: put "gypfile": false back there', () => {
  expect(lock['node_modules/better-sqlite3']).toMatchObject({ gypfile: false })
  expect(manifest.allowScripts).toMatchObject({ 'better-sqlite3': false })
})

test('no package of the lock runs a script at the install but those that need no network and no compiler', () => {
  const scripted = Object.entries(lock).filter(([, { hasInstallScript }]) => hasInstallScript)
  const names = scripted.map(([path]) => path.replace(/^.*node_modules\//, ''))
  expect(new Set(names)).toEqual(new Set(['esbuild']))
})

test.each(['', 'test/judges/'])('the lock in "%s" names no registry, so that it works with any', (folder) => {
  const packages = Object.values<Record<string, unknown>>(read(`${folder}package-lock.json`).packages)
  expect(packages.length).toBeGreaterThan(100)
  expect(packages.filter(({ resolved }) => resolved !== undefined)).toEqual([])
  expect(readFileSync(join(root, folder, '.npmrc'), 'utf8')).toMatch(/^omit-lockfile-registry-resolved=true$/m)
})

test('a Node that is not supported is refused at the install, not warned of', () => {
  expect(readFileSync(join(root, '.npmrc'), 'utf8')).toMatch(/^engine-strict=true$/m)
  expect(manifest.engines).toEqual({ node: '^20.19.2 || >=22.14.0' })
})

test('Yarn keeps the package outside of archives: it opens its migrations and seeds by their paths', () => {
  expect(manifest.preferUnplugged).toBe(true)
})
