import { type Static, type TObject, type TSchema, type TUnsafe, Type } from '@sinclair/typebox'
import { ORIGINS, STEP_TYPES } from '../../core/enums.js'
import { namedObject, ref, strictObject, stringEnum, targetOf } from '../../core/typebox.js'
import { Integration } from '../../integrations/schemas.js'
import { SeedIntegration, SeedMessage } from '../../seeds/format.js'
import type { Patch } from '../../seeds/patch.js'

/** Values that no error repeats. */
const SECRET = { writeOnly: true }

const secret = <Schema extends TSchema>(schema: Schema): Schema => ({ ...schema, ...SECRET })

export const NewMessage = namedObject(
  'NewMessage',
  'A message as in a seed; without createdAt it is of now, by the clock of the environment',
  SeedMessage.properties
)
export type NewMessage = Static<typeof NewMessage>

export const MessagePatch = patchOf<SeedMessage>('MessagePatch', SeedMessage)
export type MessagePatch = Static<typeof MessagePatch>

const { credentials, configurations } = SeedIntegration.properties

export const NewIntegration = namedObject('NewIntegration', 'An integration as in a seed', {
  ...SeedIntegration.properties,
  credentials: secret(credentials),
  configurations: secret(configurations)
})
export type NewIntegration = Static<typeof NewIntegration>

export const IntegrationPatch = patchOf<SeedIntegration>('IntegrationPatch', NewIntegration)
export type IntegrationPatch = Static<typeof IntegrationPatch>

export const IntegrationList = strictObject({
  integrations: Type.Array(ref(Integration), {
    description: 'All integrations in the order in which they were added, soft-deleted ones too'
  })
})

const ListedStep = strictObject({
  _id: Type.String({ description: 'Record identifier of the step' }),
  stepId: Type.String({ description: 'Identifier of the step in its workflow' }),
  slug: Type.String({ description: 'Its slug' }),
  name: Type.String({ description: 'Display name' }),
  type: stringEnum(STEP_TYPES, { description: 'What kind of step it is' })
})

export const ListedWorkflow = namedObject('ListedWorkflow', 'A workflow, and what its steps are asked for by', {
  _id: Type.String({ description: 'Record identifier of the workflow' }),
  identifier: Type.String({ description: 'Unique identifier of the workflow' }),
  slug: Type.String({ description: 'Its slug' }),
  name: Type.String({ description: 'Display name' }),
  origin: Type.Unsafe<string>(
    Type.String({ description: `Where it was created: ${ORIGINS.join(', ')}, or the vendor's names of these` })
  ),
  steps: Type.Array(ListedStep, { description: 'Its steps, in their order' })
})
export type ListedWorkflow = Static<typeof ListedWorkflow>

export const WorkflowList = strictObject({
  workflows: Type.Array(ref(ListedWorkflow), { description: 'All workflows, in the order in which they were added' })
})

/** Returns the schema of a change: any of the fields but `_id`, or null in place of one. */
function patchOf<RecordSeed>($id: string, { properties }: TObject): TUnsafe<Patch<RecordSeed>> {
  const { _id, ...fields } = properties
  const nullable = Object.entries(fields).map(([name, field]) => {
    const { description = field.$ref && targetOf(field).description, writeOnly } = field
    const options = { ...(description && { description }), ...(writeOnly && SECRET) }
    return [name, Type.Optional(Type.Union([field, Type.Null()], options))]
  })
  const description = 'The fields to change; null removes one that may be left out'
  return Type.Unsafe<Patch<RecordSeed>>(strictObject(Object.fromEntries(nullable), { $id, description }))
}
