import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { ORIGINS, STEP_TYPES } from '../domain/enums.js'
import { freeObject, namedEnum, namedObject, recordOf, ref, refById } from '../schema/typebox.js'

const StepType = namedEnum('StepType', 'Channel or action of a step', STEP_TYPES)
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
const UiGroup = namedEnum('UiGroup', 'Group of controls in the workflow editor', GROUPS)
const UiComponent = namedEnum('UiComponent', 'Control that the workflow editor shows for a field', [
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
const ContentIssueType = namedEnum('ContentIssueType', 'Kind of issue with a control value', [
  'ILLEGAL_VARIABLE_IN_CONTROL_VALUE',
  'INVALID_FILTER_ARG_IN_VARIABLE',
  'MISSING_VALUE',
  'TIER_LIMIT_EXCEEDED'
])
const INTEGRATION_ISSUES = ['MISSING_INTEGRATION', 'INBOX_NOT_CONNECTED'] as const
const IntegrationIssueType = namedEnum(
  'IntegrationIssueType',
  "Kind of issue with a channel's integration",
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
  description: 'Placeholder that the workflow editor shows in an empty field'
})

/** This type is written out, because TypeScript can't infer the type of a recursive schema. */
export interface UiSchemaProperty {
  placeholder?: Static<typeof Placeholder>
  component: Static<typeof UiComponent>
  properties?: Record<string, UiSchemaProperty>
}

const nestedProperty = refById<UiSchemaProperty>(
  'UiSchemaProperty',
  (): TSchema => UiSchemaProperty
)

export const UiSchemaProperty = namedObject(
  'UiSchemaProperty',
  'How the workflow editor shows a field',
  {
    placeholder: Type.Optional(ref(Placeholder)),
    component: ref(UiComponent, 'Control that edits the field'),
    properties: Type.Optional(recordOf(nestedProperty, 'Nested fields by name'))
  }
)

export const UiSchema = namedObject(
  'UiSchema',
  'How the workflow editor shows the controls of a step',
  {
    group: Type.Optional(ref(UiGroup, 'Group that the controls belong to')),
    properties: Type.Optional(recordOf(ref(UiSchemaProperty), 'Fields by name'))
  }
)
export type UiSchema = Static<typeof UiSchema>

export const ControlsMetadata = namedObject(
  'ControlsMetadataDto',
  'Controls of a step: their schema and how the editor shows them',
  {
    dataSchema: Type.Optional(freeObject('JSON Schema of the control values')),
    uiSchema: Type.Optional(ref(UiSchema))
  }
)
export type ControlsMetadata = Static<typeof ControlsMetadata>

const stepIssue = <Words extends TSchema>($id: string, description: string, issueType: Words) =>
  namedObject($id, description, {
    issueType: ref(issueType),
    variableName: Type.Optional(
      Type.String({ description: 'Name of the variable that has the issue' })
    ),
    message: Type.String({ description: 'Description of the issue' })
  })

const OF_INTEGRATION = "An issue with a channel's integration"
export const StepContentIssue = stepIssue(
  'StepContentIssueDto',
  'An issue with a control value',
  ContentIssueType
)
export const StepIntegrationIssue = stepIssue(
  'StepIntegrationIssue',
  OF_INTEGRATION,
  IntegrationIssueType
)

export const StepIssues = namedObject('StepIssuesDto', 'Issues of a step', {
  controls: Type.Optional(
    recordOf(Type.Array(ref(StepContentIssue), { minItems: 0 }), 'Content issues by control name')
  ),
  integration: Type.Optional(
    recordOf(
      Type.Array(ref(StepIntegrationIssue), { minItems: 0 }),
      'Integration issues by channel'
    )
  )
})

export const WorkflowStep = namedObject(
  'WorkflowStep',
  'A workflow step with its controls, variables and issues',
  {
    controls: ref(ControlsMetadata),
    controlValues: Type.Optional(freeObject('Values of the controls')),
    variables: freeObject('JSON Schema of the variables that the step can use'),
    stepId: Type.String({
      description: 'Identifier of the step in its workflow, such as `email-step`'
    }),
    _id: Type.String({ description: 'Database identifier of the step' }),
    name: Type.String({ description: 'Display name' }),
    slug: Type.String({
      description: 'Slug of the name, followed by `_st_` and the `_id` in base 62'
    }),
    type: ref(StepType),
    origin: ref(Origin),
    workflowId: Type.String({ description: 'Identifier of the workflow, such as `order-shipped`' }),
    workflowDatabaseId: Type.String({ description: 'Database identifier of the workflow' }),
    issues: Type.Optional(ref(StepIssues))
  }
)
export type WorkflowStep = Static<typeof WorkflowStep>
