import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '../..')
const read = (name: string) => JSON.parse(readFileSync(join(root, name), 'utf8'))
const manifest = read('package.json')
const lock: Record<string, Record<string, unknown>> = read('package-lock.json').packages

test('the locked database addon is optional, skipped on Node 20, and never compiled', () => {
  expect(manifest.optionalDependencies).toHaveProperty('better-sqlite3')
  // `npm install` removes `"gypfile": false` from the lock file. Restore it by hand.
  const expected = { optional: true, engines: { node: '>=22' }, gypfile: false }
  expect(lock['node_modules/better-sqlite3']).toMatchObject(expected)
  expect(manifest.allowScripts).toMatchObject({ 'better-sqlite3': false })
})

test('the only package with an install script is esbuild, which needs no compiler', () => {
  const scripted = Object.entries(lock).filter(([, { hasInstallScript }]) => hasInstallScript)
  const names = scripted.map(([path]) => path.replace(/^.*node_modules\//, ''))
  expect(new Set(names)).toEqual(new Set(['esbuild']))
})

test.each(['', 'test/external-tools/'])(
  '%spackage-lock.json contains no download URLs',
  (folder) => {
    const packages = Object.values<Record<string, unknown>>(
      read(`${folder}package-lock.json`).packages
    )
    expect(packages.length).toBeGreaterThan(100)
    expect(packages.filter(({ resolved }) => resolved !== undefined)).toEqual([])
    expect(readFileSync(join(root, folder, '.npmrc'), 'utf8')).toMatch(
      /^omit-lockfile-registry-resolved=true$/m
    )
  }
)

test('`npm install` fails on an unsupported version of Node', () => {
  expect(readFileSync(join(root, '.npmrc'), 'utf8')).toMatch(/^engine-strict=true$/m)
  expect(manifest).toMatchObject({ engines: { node: '^20.19.2 || >=22.14.0' } })
})

test('Yarn stores the package unzipped', () => {
  expect(manifest).toMatchObject({ preferUnplugged: true })
})
