import type { StepType } from '../../core/enums.js'
import type { ControlsMetadata } from '../../workflow-steps/schemas.js'
// The deployed service has `placeholder: null` in places, where the contract allows no null, and since 2026
// `rendererType: EMAIL_RENDERER_SELECT` for emails, which its clients before 3.14.1 refuse. Both are left out.
import CONTROLS from './step-controls.json' with { type: 'json' }

/** Returns a copy of the controls that the deployed service declares for a step of the type. */
export function defaultControls(type: StepType): ControlsMetadata {
  return JSON.parse(JSON.stringify(CONTROLS[type]))
}
