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
import { freeObject, recordOf, ref, refById, strictObject, stringEnum } from '../core/typebox.js'

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

export const UiSchemaProperty = strictObject(
  {
    placeholder: Type.Optional(placeholder),
    component: stringEnum(UI_COMPONENTS, { description: 'The control to show' }),
    properties: Type.Optional(recordOf(nestedProperty, 'Nested fields, by name'))
  },
  { $id: 'UiSchemaProperty', description: 'Control for one field' }
)

export const UiSchema = strictObject(
  {
    group: Type.Optional(stringEnum(UI_GROUPS, { description: 'The group of controls it belongs to' })),
    properties: Type.Optional(recordOf(ref(UiSchemaProperty), 'Fields by name'))
  },
  { $id: 'UiSchema', description: 'Controls of a step, for the editor' }
)
export type UiSchema = Static<typeof UiSchema>

export const ControlsMetadata = strictObject(
  {
    dataSchema: Type.Optional(freeObject('JSON Schema of the control values')),
    uiSchema: Type.Optional(ref(UiSchema))
  },
  { $id: 'ControlsMetadata', description: 'Controls that a step has' }
)
export type ControlsMetadata = Static<typeof ControlsMetadata>

export const StepContentIssue = strictObject(
  {
    issueType: stringEnum(CONTENT_ISSUE_TYPES),
    variableName: Type.Optional(Type.String({ description: 'Variable that has the issue' })),
    message: Type.String({ description: 'Description of the issue' })
  },
  { $id: 'StepContentIssue', description: 'An issue of a control value' }
)

export const StepIntegrationIssue = strictObject(
  {
    issueType: stringEnum(INTEGRATION_ISSUE_TYPES),
    variableName: Type.Optional(Type.String({ description: 'Variable that has the issue' })),
    message: Type.String({ description: 'Description of the issue' })
  },
  { $id: 'StepIntegrationIssue', description: 'An issue of the integration of a channel' }
)

export const StepIssues = strictObject(
  {
    controls: Type.Optional(recordOf(Type.Array(ref(StepContentIssue), { minItems: 0 }), 'Content issues, by control')),
    integration: Type.Optional(
      recordOf(Type.Array(ref(StepIntegrationIssue), { minItems: 0 }), 'Integration issues, by channel')
    )
  },
  { $id: 'StepIssues', description: 'Issues of a step' }
)

export const WorkflowStep = strictObject(
  {
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
  },
  {
    $id: 'WorkflowStep',
    description: 'One step of a workflow, with its controls, its variables and its issues'
  }
)
export type WorkflowStep = Static<typeof WorkflowStep>
