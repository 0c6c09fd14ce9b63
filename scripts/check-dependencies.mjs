#!/usr/bin/env node
/**
 * Checks that:
 *
 * 1. the imports in src/ follow the rules of .dependency-cruiser.cjs
 * 2. every file and folder directly in src/ has a layer in .dependency-cruiser.cjs
 * 3. no file in src/ and no function in src/ or test/ is too long
 *
 *     node scripts/check-dependencies.mjs [folder with src/, package.json and tsconfig.json]
 *
 * Exits with 1 if a check fails, or if dependency-cruiser missed a source file. With an unsupported
 * TypeScript version, dependency-cruiser checks 0 modules and reports no violations.
 */
import { existsSync, readdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve, sep } from 'node:path'
import { cruise } from 'dependency-cruiser'
import extractTsConfig from 'dependency-cruiser/config-utl/extract-ts-config'
import { findOversized } from './sizes.mjs'

const rules = createRequire(import.meta.url)('../.dependency-cruiser.cjs')
const folder = resolve(process.argv[2] ?? join(import.meta.dirname, '..'))

// dependency-cruiser resolves imports, and finds package.json, relative to the current folder.
process.chdir(folder)
const sources = sourceFiles('src')
if (sources.length === 0) {
  console.error(`no TypeScript file in ${join(folder, 'src')}: nothing was checked`)
  process.exit(1)
}

const { output } = await cruise(
  ['src'],
  { ...rules.options, validate: true, ruleSet: { forbidden: rules.forbidden } },
  undefined,
  { tsConfig: extractTsConfig('tsconfig.json') }
)
const { summary, modules } = output
const cruised = new Set(
  modules.map(({ source }) => source).filter((source) => source.startsWith('src/'))
)
const problems = [
  ...summary.violations.map(describeViolation),
  ...missedSources(),
  ...entriesWithoutLayer(),
  ...findOversized([...sources, ...sourceFiles('test')])
]

if (problems.length > 0) {
  for (const problem of problems) console.error(problem)
  const count = problems.length === 1 ? '1 problem' : `${problems.length} problems`
  console.error(`\n${count} in ${cruised.size} files`)
  process.exit(1)
}
console.log(
  `${cruised.size} files, ${summary.totalDependenciesCruised} imports, ` +
    `${rules.forbidden.length} rules, no violations`
)

function describeViolation({ rule, from, to, cycle }) {
  const { comment } = rules.forbidden.find(({ name }) => name === rule.name)
  return `${rule.name}: ${violationPath(from, to, cycle)}\n    ${comment}`
}

function violationPath(from, to, cycle) {
  if (cycle) return [from, ...cycle.map(({ name }) => name)].join(' -> ')
  return from === to ? from : `${from} -> ${to}`
}

/**
 * Returns a problem for each source file that dependency-cruiser missed, and one more problem if
 * dependency-cruiser found no imports at all.
 */
function missedSources() {
  const missed = sources
    .filter((name) => !cruised.has(name))
    .map((name) => `not checked: dependency-cruiser missed ${name}`)
  const sawNoImport = sources.length > 1 && summary.totalDependenciesCruised === 0
  return sawNoImport ? [...missed, 'not checked: dependency-cruiser found no imports'] : missed
}

function entriesWithoutLayer() {
  const layers = rules.layers.flat()
  return readdirSync('src')
    .filter((name) => !layers.includes(name))
    .map(
      (name) => `misplaced: src/${name} has no layer. Add it to LAYERS in .dependency-cruiser.cjs`
    )
}

function sourceFiles(where) {
  if (!existsSync(where)) return []
  return readdirSync(where, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.[cm]?tsx?$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name).split(sep).join('/'))
}
