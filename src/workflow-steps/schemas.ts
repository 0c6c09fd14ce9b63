import { type Static, type TSchema, Type } from '@sinclair/typebox'
import {
  CONTENT_ISSUE_TYPES,
  INTEGRATION_ISSUE_TYPES,
  ORIGINS,
  STEP_TYPES,
  UI_COMPONENTS,
  UI_GROUPS,
  type UiComponent
} from '../core/enums.js'
import { freeObject, namedObject, recordOf, ref, refById, stringEnum } from '../core/typebox.js'

const plainPlaceholder = Type.Union([Type.String(), Type.Number(), Type.Boolean(), freeObject('Any object')])

const placeholder = Type.Union([...plainPlaceholder.anyOf, Type.Array(plainPlaceholder)], {
  description: 'Placeholder of an empty field'
})

/** Written out because a schema that holds itself has no type to infer. */
export interface UiSchemaProperty {
  placeholder?: Static<typeof placeholder>
  component: UiComponent
  properties?: Record<string, UiSchemaProperty>
}

const nestedProperty = refById<UiSchemaProperty>('UiSchemaProperty', (): TSchema => UiSchemaProperty)

export const UiSchemaProperty = namedObject('UiSchemaProperty', 'Control for one field', {
  placeholder: Type.Optional(placeholder),
  component: stringEnum(UI_COMPONENTS, { description: 'The control to show' }),
  properties: Type.Optional(recordOf(nestedProperty, 'Nested fields, by name'))
})

export const UiSchema = namedObject('UiSchema', 'Controls of a step, for the editor', {
  group: Type.Optional(stringEnum(UI_GROUPS, { description: 'The group of controls it belongs to' })),
  properties: Type.Optional(recordOf(ref(UiSchemaProperty), 'Fields by name'))
})
export type UiSchema = Static<typeof UiSchema>

export const ControlsMetadata = namedObject('ControlsMetadata', 'Controls that a step has', {
  dataSchema: Type.Optional(freeObject('JSON Schema of the control values')),
  uiSchema: Type.Optional(ref(UiSchema))
})
export type ControlsMetadata = Static<typeof ControlsMetadata>

export const StepContentIssue = namedObject('StepContentIssue', 'An issue of a control value', {
  issueType: stringEnum(CONTENT_ISSUE_TYPES),
  variableName: Type.Optional(Type.String({ description: 'Variable that has the issue' })),
  message: Type.String({ description: 'Description of the issue' })
})

export const StepIntegrationIssue = namedObject('StepIntegrationIssue', 'An issue of the integration of a channel', {
  issueType: stringEnum(INTEGRATION_ISSUE_TYPES),
  variableName: Type.Optional(Type.String({ description: 'Variable that has the issue' })),
  message: Type.String({ description: 'Description of the issue' })
})

export const StepIssues = namedObject('StepIssues', 'Issues of a step', {
  controls: Type.Optional(recordOf(Type.Array(ref(StepContentIssue), { minItems: 0 }), 'Content issues, by control')),
  integration: Type.Optional(
    recordOf(Type.Array(ref(StepIntegrationIssue), { minItems: 0 }), 'Integration issues, by channel')
  )
})

export const WorkflowStep = namedObject('WorkflowStep', 'A step of a workflow: its controls, variables and issues', {
  controls: ref(ControlsMetadata),
  controlValues: Type.Optional(freeObject('Values of the controls')),
  variables: freeObject('JSON Schema of the variables that the step can use'),
  stepId: Type.String({ description: 'Step identifier' }),
  _id: Type.String({ description: 'Database identifier of the step' }),
  name: Type.String(),
  slug: Type.String(),
  type: stringEnum(STEP_TYPES),
  origin: stringEnum(ORIGINS, { description: 'Where the workflow was created' }),
  workflowId: Type.String({ description: 'Workflow identifier' }),
  workflowDatabaseId: Type.String({ description: 'Database identifier of the workflow' }),
  issues: Type.Optional(ref(StepIssues))
})
export type WorkflowStep = Static<typeof WorkflowStep>
