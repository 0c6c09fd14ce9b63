import { hash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { TSchema } from '@sinclair/typebox'
import type { ValidateFunction } from 'ajv'

/** Beside the bundle, which the build makes together with them. Run from its source the server has none. */
const FOLDER = join(dirname(fileURLToPath(import.meta.url)), 'validators')

/**
 * What the build has compiled of this schema, with those that it refers to; undefined when it has compiled nothing of
 * just this. To compile the schema of seeds takes as long as all the rest of a start.
 */
export function prebuiltValidator(schema: TSchema, named: readonly TSchema[]): ValidateFunction | undefined {
  if (!existsSync(FOLDER)) return undefined
  const file = join(FOLDER, `${validatorName(schema, named)}.cjs`)
  return existsSync(file) ? createRequire(import.meta.url)(file) : undefined
}

/** Another one for whatever differs in the schemas, so that a validator can't be one of another schema. */
export function validatorName(schema: TSchema, named: readonly TSchema[]): string {
  return hash('sha256', JSON.stringify([schema, named]), 'hex')
}
