import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '../..')
const read = (name: string) => JSON.parse(readFileSync(join(root, name), 'utf8'))
const manifest = read('package.json')
const lock: Record<string, Record<string, unknown>> = read('package-lock.json').packages

test('the lock has the database addon with its binaries, for which nothing is compiled, and which npm leaves out on Node 20', () => {
  expect(manifest.optionalDependencies).toHaveProperty('better-sqlite3')
  // `npm install` forgets "gypfile": false; put it back there.
  const expected = { optional: true, engines: { node: '>=22' }, gypfile: false }
  expect(lock['node_modules/better-sqlite3']).toMatchObject(expected)
  expect(manifest.allowScripts).toMatchObject({ 'better-sqlite3': false })
})

test('no package of the lock runs a script at the install but those that need no network and no compiler', () => {
  const scripted = Object.entries(lock).filter(([, { hasInstallScript }]) => hasInstallScript)
  const names = scripted.map(([path]) => path.replace(/^.*node_modules\//, ''))
  expect(new Set(names)).toEqual(new Set(['esbuild']))
})

test.each(['', 'test/external-tools/'])(
  'the lock in "%s" names no registry, so that it works with any',
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

test('a Node that is not supported is refused at the install, and Yarn keeps the package outside of archives', () => {
  expect(readFileSync(join(root, '.npmrc'), 'utf8')).toMatch(/^engine-strict=true$/m)
  expect(manifest).toMatchObject({
    engines: { node: '^20.19.2 || >=22.14.0' },
    preferUnplugged: true
  })
})
