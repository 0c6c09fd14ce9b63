import { type Static, Type } from '@sinclair/typebox'
import { Coverage } from '../../coverage/schemas.js'
import { EnvironmentDiff, ProfileName } from '../../environments/schemas.js'
import { FaultRule } from '../../faults/schemas.js'
import { Change, RecordedExchange } from '../../journal/schemas.js'
import {
  dateTime,
  namedObject,
  recordOf,
  ref,
  strictObject,
  stringEnum
} from '../../schema/typebox.js'

export const OUTCOMES = ['passed', 'failed', 'skipped', 'unknown'] as const

const text = (description: string, maxLength: number) =>
  Type.Optional(Type.String({ maxLength, description }))
const milliseconds = (description: string) => Type.Number({ minimum: 0, description })

export const TestDescription = namedObject(
  'TestDescription',
  'What an environment is told of its test',
  {
    title: text('Its title, with those of the groups that it is in', 2000),
    file: text('Its file, and its line after a colon', 2000),
    outcome: Type.Optional(stringEnum(OUTCOMES, { description: '`unknown` until it is told' })),
    error: text('Why it has failed', 20_000),
    duration: Type.Optional(milliseconds('How long it took, in milliseconds'))
  }
)
export type TestDescription = Static<typeof TestDescription>

const answered = (description: string) => Type.Array(ref(RecordedExchange), { description })
const count = (description: string) => Type.Integer({ minimum: 0, description })

export const TestRecord = namedObject(
  'TestRecord',
  'What a test has done to its environment, and what it has left',
  {
    ...TestDescription.properties,
    title: Type.String({ description: 'Its title; the name of the environment if none was told' }),
    outcome: stringEnum(OUTCOMES, { description: '`unknown` if it was not told' }),
    started: dateTime("When the environment was created, by the machine's clock"),
    duration: milliseconds(
      'Milliseconds that the test took, if it was told; else how long its environment was there'
    ),
    environment: Type.String({ description: 'Name of the environment' }),
    requests: answered('The requests to it, oldest first'),
    lost: count('How many older requests the journal has forgotten'),
    unauthenticated: answered(
      'The requests without a valid key in that time, be they of this test or of one beside it'
    ),
    faults: Type.Array(ref(FaultRule), {
      description: 'Its fault rules at its end, with their counters'
    }),
    changes: Type.Array(ref(Change), { description: 'What was done to it between the requests' }),
    left: Type.Optional(
      ref(EnvironmentDiff, 'How its end differs from its beginning; absent if it does not')
    )
  }
)
export type TestRecord = Static<typeof TestRecord>

export const OtherRequest = namedObject('OtherRequest', 'A request that no test has made', {
  ...RecordedExchange.properties,
  environment: Type.Optional(
    Type.String({ description: 'Name of its environment; absent without a valid key' })
  )
})
export type OtherRequest = Static<typeof OtherRequest>

export const RunRecord = namedObject('RunRecord', 'All that the tests of a run have done', {
  run: strictObject(
    {
      started: dateTime("When the server was started, by the machine's clock"),
      duration: milliseconds('Milliseconds since then'),
      version: Type.String({ description: 'Version of notification-mock' }),
      profile: ref(ProfileName),
      assumptions: recordOf(
        Type.String(),
        'Assumptions of the server that differ from the profile'
      ),
      node: Type.String({ description: 'Version of the Node that the server runs in' })
    },
    { description: 'The run, and its server' }
  ),
  coverage: ref(Coverage),
  tests: Type.Array(ref(TestRecord), {
    description: 'In the order in which their environments were created'
  }),
  dropped: count(
    'How many tests more there were, whose records have been dropped: 200 of 64 MiB together are kept'
  ),
  others: Type.Array(ref(OtherRequest), { description: 'The requests that no test has made' })
})
export type RunRecord = Static<typeof RunRecord>
