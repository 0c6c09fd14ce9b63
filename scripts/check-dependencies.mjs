#!/usr/bin/env node
/**
 * Checks the direction of imports in src/ against .dependency-cruiser.cjs, that everything at the top of src/ has its
 * place in its list of layers, and that no file and no function is too long.
 *
 *     node scripts/check-dependencies.mjs [folder that holds src/, package.json and tsconfig.json]
 *
 * Exits 1 on a violation, and also when the cruise did not see every source file: a cruise that cannot read TypeScript
 * reports "no violations" about nothing, so what it saw is compared with what is on the disk.
 */
import { existsSync, readdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve, sep } from 'node:path'
import { cruise } from 'dependency-cruiser'
import extractTsConfig from 'dependency-cruiser/config-utl/extract-ts-config'
import { findOversized } from './sizes.mjs'

const rules = createRequire(import.meta.url)('../.dependency-cruiser.cjs')
const folder = resolve(process.argv[2] ?? join(import.meta.dirname, '..'))

// The cruise resolves imports and package.json from the current folder.
process.chdir(folder)
const onDisk = sourcesOnDisk()
if (onDisk.length === 0) {
  console.error(`there is no TypeScript file in ${join(folder, 'src')}: nothing was checked`)
  process.exit(1)
}

const { output } = await cruise(
  ['src'],
  { ...rules.options, validate: true, ruleSet: { forbidden: rules.forbidden } },
  undefined,
  { tsConfig: extractTsConfig('tsconfig.json') }
)
const { summary, modules } = output
const seen = new Set(
  modules.map(({ source }) => source).filter((source) => source.startsWith('src/'))
)
const problems = [
  ...summary.violations.map(describe),
  ...blindSpots(),
  ...misplaced(),
  ...findOversized(onDisk)
]

if (problems.length > 0) {
  for (const problem of problems) console.error(problem)
  console.error(
    `\n${problems.length} ${problems.length === 1 ? 'problem' : 'problems'} in ${seen.size} files`
  )
  process.exit(1)
}
console.log(
  `${seen.size} files, ${summary.totalDependenciesCruised} imports, ${rules.forbidden.length} rules, no violations`
)

function describe({ rule, from, to, cycle }) {
  const path = cycle
    ? [from, ...cycle.map(({ name }) => name)].join(' -> ')
    : from === to
      ? from
      : `${from} -> ${to}`
  const { comment } = rules.forbidden.find(({ name }) => name === rule.name)
  return `${rule.name}: ${path}\n    ${comment}`
}

/** Sources that the cruise did not read, and files read without finding an import in any of them. */
function blindSpots() {
  const missed = onDisk
    .filter((name) => !seen.has(name))
    .map((name) => `blind: the cruise did not see ${name}`)
  const isWithoutImports = onDisk.length > 1 && summary.totalDependenciesCruised === 0
  return isWithoutImports ? [...missed, 'blind: the cruise saw files but not one import'] : missed
}

/** What stands at the top of src/ without a layer. */
function misplaced() {
  const known = rules.layers.flat()
  return readdirSync('src')
    .filter((name) => !known.includes(name))
    .map(
      (name) =>
        `misplaced: src/${name} is in no layer: give it one in LAYERS (.dependency-cruiser.cjs)`
    )
}

function sourcesOnDisk() {
  if (!existsSync('src')) return []
  return readdirSync('src', { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.[cm]?tsx?$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name).split(sep).join('/'))
}
