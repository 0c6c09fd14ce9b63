import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { ORIGINS, STEP_TYPES } from '../domain/enums.js'
import { freeObject, namedEnum, namedObject, recordOf, ref, refById } from '../schema/typebox.js'

const StepType = namedEnum('StepType', 'What a step does', STEP_TYPES)
const Origin = namedEnum('Origin', 'Where a workflow was created', ORIGINS)
const GROUPS = [
  'IN_APP',
  'EMAIL',
  'DIGEST',
  'DELAY',
  'THROTTLE',
  'SMS',
  'CHAT',
  'PUSH',
  'SKIP',
  'LAYOUT'
] as const
const UiGroup = namedEnum('UiGroup', 'A group of controls', GROUPS)
const UiComponent = namedEnum('UiComponent', 'A control of the editor', [
  'EMAIL_EDITOR_SELECT',
  'LAYOUT_SELECT',
  'EMAIL_RENDERER_SELECT',
  'BLOCK_EDITOR',
  'EMAIL_BODY',
  'TEXT_FULL_LINE',
  'TEXT_INLINE_LABEL',
  'IN_APP_BODY',
  'IN_APP_AVATAR',
  'IN_APP_PRIMARY_SUBJECT',
  'IN_APP_BUTTON_DROPDOWN',
  'IN_APP_DISABLE_SANITIZATION_SWITCH',
  'DISABLE_SANITIZATION_SWITCH',
  'URL_TEXT_BOX',
  'DIGEST_AMOUNT',
  'DIGEST_UNIT',
  'DIGEST_TYPE',
  'DIGEST_KEY',
  'DIGEST_CRON',
  'DELAY_AMOUNT',
  'DELAY_UNIT',
  'DELAY_TYPE',
  'DELAY_CRON',
  'DELAY_DYNAMIC_KEY',
  'THROTTLE_TYPE',
  'THROTTLE_WINDOW',
  'THROTTLE_UNIT',
  'THROTTLE_DYNAMIC_KEY',
  'THROTTLE_THRESHOLD',
  'THROTTLE_KEY',
  'EXTEND_TO_SCHEDULE',
  'SMS_BODY',
  'CHAT_BODY',
  'PUSH_BODY',
  'PUSH_SUBJECT',
  'QUERY_EDITOR',
  'DATA',
  'LAYOUT_EMAIL'
])
const ContentIssueType = namedEnum('ContentIssueType', 'Kind of problem with a control value', [
  'ILLEGAL_VARIABLE_IN_CONTROL_VALUE',
  'INVALID_FILTER_ARG_IN_VARIABLE',
  'MISSING_VALUE',
  'TIER_LIMIT_EXCEEDED'
])
const INTEGRATION_ISSUES = ['MISSING_INTEGRATION', 'INBOX_NOT_CONNECTED'] as const
const IntegrationIssueType = namedEnum(
  'IntegrationIssueType',
  'Kind of problem with the integration of a channel',
  INTEGRATION_ISSUES
)

const plainPlaceholder = Type.Union([
  Type.String(),
  Type.Number(),
  Type.Boolean(),
  freeObject('Any object')
])

const Placeholder = Type.Union([...plainPlaceholder.anyOf, Type.Array(plainPlaceholder)], {
  $id: 'Placeholder',
  description: 'What an empty field shows'
})

/** Written out because a schema that holds itself has no type to infer. */
export interface UiSchemaProperty {
  placeholder?: Static<typeof Placeholder>
  component: Static<typeof UiComponent>
  properties?: Record<string, UiSchemaProperty>
}

const nestedProperty = refById<UiSchemaProperty>(
  'UiSchemaProperty',
  (): TSchema => UiSchemaProperty
)

export const UiSchemaProperty = namedObject('UiSchemaProperty', 'Control for one field', {
  placeholder: Type.Optional(ref(Placeholder)),
  component: ref(UiComponent, 'The control to show'),
  properties: Type.Optional(recordOf(nestedProperty, 'Nested fields, by name'))
})

export const UiSchema = namedObject('UiSchema', 'Controls of a step, for the editor', {
  group: Type.Optional(ref(UiGroup, 'The group of controls that it belongs to')),
  properties: Type.Optional(recordOf(ref(UiSchemaProperty), 'Fields by name'))
})
export type UiSchema = Static<typeof UiSchema>

export const ControlsMetadata = namedObject('ControlsMetadataDto', 'Controls that a step has', {
  dataSchema: Type.Optional(freeObject('JSON Schema of the control values')),
  uiSchema: Type.Optional(ref(UiSchema))
})
export type ControlsMetadata = Static<typeof ControlsMetadata>

const stepIssue = <Words extends TSchema>($id: string, description: string, issueType: Words) =>
  namedObject($id, description, {
    issueType: ref(issueType),
    variableName: Type.Optional(Type.String({ description: 'Variable that has the issue' })),
    message: Type.String({ description: 'Description of the issue' })
  })

const OF_INTEGRATION = 'An issue of the integration of a channel'
export const StepContentIssue = stepIssue(
  'StepContentIssueDto',
  'An issue of a control value',
  ContentIssueType
)
export const StepIntegrationIssue = stepIssue(
  'StepIntegrationIssue',
  OF_INTEGRATION,
  IntegrationIssueType
)

export const StepIssues = namedObject('StepIssuesDto', 'Issues of a step', {
  controls: Type.Optional(
    recordOf(Type.Array(ref(StepContentIssue), { minItems: 0 }), 'Content issues, by control')
  ),
  integration: Type.Optional(
    recordOf(
      Type.Array(ref(StepIntegrationIssue), { minItems: 0 }),
      'Integration issues, by channel'
    )
  )
})

export const WorkflowStep = namedObject(
  'WorkflowStep',
  'A step of a workflow: its controls, variables and issues',
  {
    controls: ref(ControlsMetadata),
    controlValues: Type.Optional(freeObject('Values of the controls')),
    variables: freeObject('JSON Schema of the variables that the step can use'),
    stepId: Type.String({ description: 'Step identifier' }),
    _id: Type.String({ description: 'Database identifier of the step' }),
    name: Type.String({ description: 'Display name' }),
    slug: Type.String({ description: 'Slug of the name, then `_st_` and the `_id` in base 62' }),
    type: ref(StepType),
    origin: ref(Origin),
    workflowId: Type.String({ description: 'Workflow identifier' }),
    workflowDatabaseId: Type.String({ description: 'Database identifier of the workflow' }),
    issues: Type.Optional(ref(StepIssues))
  }
)
export type WorkflowStep = Static<typeof WorkflowStep>
