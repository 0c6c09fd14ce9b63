import type { TSchema } from '@sinclair/typebox'
import { namedSchemas } from '../../src/core/typebox.js'
import { OPERATIONS } from '../../src/openapi/operations.js'

/** Every named schema of the contract, dependencies first. */
export const wireSchemas: readonly TSchema[] = namedSchemas(...OPERATIONS.map(({ response }) => response))
