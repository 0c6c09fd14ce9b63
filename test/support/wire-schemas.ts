import type { TSchema } from '@sinclair/typebox'
import { OPERATIONS } from '../../src/operations.js'
import { namedSchemas } from '../../src/schema/typebox.js'

/** All named schemas of the API's responses. A schema comes after the schemas that it refers to. */
export const wireSchemas: readonly TSchema[] = namedSchemas(
  ...OPERATIONS.map(({ response }) => response)
)
