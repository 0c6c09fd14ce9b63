import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TSchema } from '@sinclair/typebox'
import standaloneCode from 'ajv/dist/standalone/index.js'
import { ajvFor } from './core/validation.js'
import { listMessagesQuery } from './messages/query.js'
import { validatorName } from './prebuilt.js'
import { Seed, seedFormatSchemas } from './seeds/format.js'

/** What a start or the first request validates by, each with the schemas that it refers to. */
const VALIDATED: [schema: TSchema, named: readonly TSchema[]][] = [
  [Seed, seedFormatSchemas],
  ...[0, 1, 2, 3, 4, 5, 6, 7].map((bits): [TSchema, TSchema[]] => {
    const switches = { anyChannel: (bits & 1) > 0, anyContextKey: (bits & 2) > 0, anyLimit: (bits & 4) > 0 }
    return [listMessagesQuery(switches), []]
  })
]

/** Writes the source of each validator to a folder, for the build, which puts into it what of Ajv it needs. */
export function writeValidators(folder: string): void {
  mkdirSync(folder, { recursive: true })
  for (const [schema, named] of VALIDATED) {
    const ajv = ajvFor(schema, named, { code: { source: true } })
    // Its types describe what a CommonJS module with a default is to other modules, and not to these.
    const code = (standaloneCode as unknown as typeof standaloneCode.default)(ajv, ajv.compile(schema))
    writeFileSync(join(folder, `${validatorName(schema, named)}.cjs`), code)
  }
}
