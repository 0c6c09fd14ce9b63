import type { TSchema } from '@sinclair/typebox'
import type { Assumptions } from '../core/assumptions.js'
import { ref, strictObject } from '../core/typebox.js'

const HEAD = Buffer.from('{"data":')
const TAIL = Buffer.from('}')

/** A single object, as JSON, as the environment's answers carry it: itself, or under the one key `data`. */
export function enveloped(document: Buffer, { envelope }: Assumptions): Buffer {
  return envelope === 'data' ? Buffer.concat([HEAD, document, TAIL]) : document
}

/** The schema of what `enveloped` makes of an object of this schema. */
export function envelopedSchema(schema: TSchema, { envelope }: Assumptions): TSchema {
  return envelope === 'data' ? strictObject({ data: ref(schema) }) : ref(schema)
}
