import { MAX_ISSUES, type Path } from '../schema/validation.js'
import type { SeedIssue } from './errors.js'
import type { SeedFile } from './read.js'

/** Matches a variable in the syntax of shells and compose files, such as `${NAME:-default}`. */
const VARIABLE = /\$\{(\w+)[^}]*\}/

/**
 * Returns a hint for each API key or integration value that contains an environment variable. Such
 * a seed is valid, but nothing expands the variable. A hint contains only the variable's name,
 * because the value may be a secret.
 */
export function findSeedHints(files: readonly SeedFile[]): SeedIssue[] {
  return files.flatMap(({ seed, issueAt }) =>
    [...variablesOf(seed)]
      .slice(0, MAX_ISSUES)
      .map(({ path, name }) => issueAt(path, unexpandedVariable(name)))
  )
}

const unexpandedVariable = (name: string) =>
  `contains \${${name}}, but environment variables aren't expanded in a seed: write the value, ` +
  'or let envsubst expand them and load the result with `--seed -`'

interface Variable {
  path: Path
  name: string
}

function* variablesOf({ environments }: SeedFile['seed']): Generator<Variable, void> {
  for (const [index, { apiKeys, integrations }] of environments.entries()) {
    yield* variablesIn(apiKeys, ['environments', index, 'apiKeys'])
    yield* variablesIn(integrations, ['environments', index, 'integrations'])
  }
}

function* variablesIn(value: unknown, path: Path): Generator<Variable, void> {
  const name = typeof value === 'string' ? VARIABLE.exec(value)?.[1] : undefined
  if (name !== undefined) yield { path, name }
  if (typeof value !== 'object' || value === null) return
  for (const [field, child] of Object.entries(value)) {
    yield* variablesIn(child, [...path, Array.isArray(value) ? Number(field) : field])
  }
}
