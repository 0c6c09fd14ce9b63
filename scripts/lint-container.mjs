#!/usr/bin/env node
/**
 * Lints Dockerfile and docker-compose.yml in a folder, by default the project's. Warnings fail the
 * check, just as errors do. Doesn't build the image, because most machines have no container
 * engine.
 *
 *     node scripts/lint-container.mjs [folder]
 */
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { DCLinter } from 'dclint'
import dockerfileUtils from 'dockerfile-utils'

const folder = resolve(process.argv[2] ?? join(import.meta.dirname, '..'))
const problems = [...lintDockerfile('Dockerfile'), ...lintCompose('docker-compose.yml')]

for (const problem of problems) console.error(problem)
if (problems.length > 0) process.exit(1)
console.log('Dockerfile and docker-compose.yml: no problems')

function lintDockerfile(name) {
  if (!existsSync(join(folder, name))) return [`${name}: missing`]
  const problems = dockerfileUtils.validate(readFileSync(join(folder, name), 'utf8'))
  return problems.map(({ range, message }) => `${name}:${range.start.line + 1} ${message}`)
}

function lintCompose(name) {
  if (!existsSync(join(folder, name))) return [`${name}: missing`]
  // Two rules are off. One requires a project name, which Compose 1.29 rejects. The other forbids
  // `image` next to `build`, but our `image` only names the image that `build` creates.
  const linter = new DCLinter({
    rules: { 'require-project-name-field': 0, 'no-build-and-image': 0 },
    quiet: false,
    debug: false,
    exclude: []
  })
  const results = linter.lintFiles([join(folder, name)], false)
  if (results.length !== 1) return [`${name}: the linter did not read this file`]
  return results[0].messages.map(
    ({ line, rule, message }) => `${name}:${line} ${message} (${rule})`
  )
}
