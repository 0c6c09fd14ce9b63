import type { Assumptions } from '../core/assumptions.js'

const HEAD = Buffer.from('{"data":')
const TAIL = Buffer.from('}')

/** A single object, as JSON, as the environment's answers carry it: itself, or under the one key `data`. */
export function enveloped(document: Buffer, { envelope }: Assumptions): Buffer {
  return envelope === 'data' ? Buffer.concat([HEAD, document, TAIL]) : document
}
