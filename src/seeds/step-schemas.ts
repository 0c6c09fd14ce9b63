import type { Path } from '../core/validation.js'
import type { SeedStep, SeedWorkflow } from './format.js'
import { checkingJsonSchema, type Report } from './json-schema.js'
import { comparing } from './json-schema-values.js'
import { defaultControls } from './resolve/step-controls.js'

/** Reports the schemas of a workflow that are none, and control values that do not match those of a step, in steps. */
export function* checkingSchemas(
  { payloadSchema, steps = [] }: SeedWorkflow,
  path: Path,
  report: Report
): Generator<void, void> {
  if (payloadSchema) yield* checkingJsonSchema(payloadSchema, [...path, 'payloadSchema'], report)
  for (const [index, step] of steps.entries()) yield* checkingStep(step, [...path, 'steps', index], report)
}

/**
 * Compares the values with a dataSchema of the step's own: by that of its type, which an export repeats, the deployed
 * service saves a step whose values are not complete. A step with issues is one whose values are not right yet.
 */
function* checkingStep(
  { type, variables, controls, controlValues, issues }: SeedStep,
  path: Path,
  report: Report
): Generator<void, void> {
  yield
  if (variables) yield* checkingJsonSchema(variables, [...path, 'variables'], report)
  const { dataSchema } = controls ?? {}
  if (dataSchema === undefined) return
  const isSchema = yield* checkingJsonSchema(dataSchema, [...path, 'controls', 'dataSchema'], report)
  if (!isSchema || !controlValues || issues) return
  const isOwn = JSON.stringify(dataSchema) !== JSON.stringify(defaultControls(type).dataSchema)
  if (isOwn) yield* comparing(controlValues, dataSchema, [...path, 'controlValues'], report)
}
