import { type Static, Type } from '@sinclair/typebox'
import { namedObject, ref, strictObject, stringEnum } from '../schema/typebox.js'

const sequence = (description: string) => Type.Integer({ minimum: 1, format: 'int64', description })

const Difference = strictObject(
  {
    part: Type.String({ description: '`status`, `body`, or `header <name>`' }),
    recorded: Type.Optional(Type.String({ description: 'The value in the report' })),
    repeated: Type.Optional(Type.String({ description: 'The value in the new response' }))
  },
  { description: 'A part of the response that differs' }
)

export const ReplayedRequest = namedObject(
  'ReplayedRequest',
  'A recorded request of the reopened test',
  {
    sequence: sequence('Number of the request in the report'),
    method: Type.String({ description: 'Method' }),
    target: Type.String({ description: 'Path and query' }),
    status: Type.Optional(Type.Integer({ description: 'Recorded status of the response' })),
    result: stringEnum(['equal', 'different', 'next', 'later'], {
      description:
        'Whether the new response is equal to or different from the recorded one. If the request ' +
        "hasn't been repeated yet: `next` if it is the next one to repeat, otherwise `later`"
    }),
    repeatedAs: Type.Optional(sequence('Number of the repeated request on this server')),
    differences: Type.Optional(
      Type.Array(Difference, { description: 'Present if the response differs' })
    ),
    cause: Type.Optional(Type.String({ description: 'Probable cause of the difference' }))
  }
)
export type ReplayedRequest = Static<typeof ReplayedRequest>
export type Difference = NonNullable<ReplayedRequest['differences']>[number]

export const ReplayState = namedObject('ReplayState', 'The reopened test of a run', {
  title: Type.String({ description: 'Title of the test' }),
  warnings: Type.Array(Type.String(), { description: 'Why responses may differ' }),
  requests: Type.Array(ref(ReplayedRequest), { description: 'All requests, oldest first' })
})
export type ReplayState = Static<typeof ReplayState>
