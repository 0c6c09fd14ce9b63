import { type Static, Type } from '@sinclair/typebox'
import { Coverage } from '../../coverage/schemas.js'
import { EnvironmentDiff, ProfileName } from '../../environments/schemas.js'
import { FaultRule, Latency } from '../../faults/schemas.js'
import { Change, RecordedExchange } from '../../journal/schemas.js'
import {
  dateTime,
  freeObject,
  namedObject,
  recordOf,
  ref,
  strictObject,
  stringEnum
} from '../../schema/typebox.js'

export const REPORT_STATES = ['failed', 'all', 'off'] as const
export const ReportState = stringEnum(REPORT_STATES, {
  description: "Which tests' starting states the report includes"
})
export type ReportState = Static<typeof ReportState>

export const OUTCOMES = ['passed', 'failed', 'skipped', 'unknown'] as const

const text = (description: string, maxLength: number) =>
  Type.Optional(Type.String({ maxLength, description }))
const milliseconds = (description: string) => Type.Number({ minimum: 0, description })

export const TestDescription = namedObject('TestDescription', 'The description of a test', {
  title: text('Title of the test, preceded by the titles of its groups', 2000),
  file: text('Path of the test file, followed by a colon and the line number', 2000),
  outcome: Type.Optional(
    stringEnum(OUTCOMES, { description: 'Outcome of the test; `unknown` until it is reported' })
  ),
  error: text('Error message of a failed test', 20_000),
  attempt: Type.Optional(
    Type.Integer({
      minimum: 1,
      description:
        'Number of the attempt, if the test runner retries failed tests. Attempts with the same ' +
        'title and file are one test in the HTML report'
    })
  ),
  duration: Type.Optional(milliseconds('Duration of the test, in milliseconds'))
})
export type TestDescription = Static<typeof TestDescription>

const exchanges = (description: string) => Type.Array(ref(RecordedExchange), { description })
const count = (description: string) => Type.Integer({ minimum: 0, description })

const ControlRequest = strictObject(
  {
    after: count('Sequence number of the last API request before this control request'),
    time: Type.Number({ description: "The environment's time, in milliseconds since 1970" }),
    method: Type.String({ description: 'Method' }),
    target: Type.String({ description: 'Path and query' }),
    body: Type.String({ description: 'Body as JSON' })
  },
  { description: 'A control request that changed the environment' }
)

export const TestStart = namedObject(
  'TestStart',
  'The starting state of a test, and the control requests that changed it. Secrets are masked',
  {
    environmentId: Type.String({ description: 'Id of the environment' }),
    organizationId: Type.String({ description: 'Id of its organization' }),
    settings: freeObject('The settings of the environment, as in a seed'),
    baseline: count("Index of the test's initial records in the report's list `baselines`"),
    randomStart: count('Seed of the random values if `settings` has no `randomSeed`'),
    faults: Type.Array(ref(FaultRule), { description: 'The fault rules' }),
    latency: ref(Latency),
    faultHeader: Type.Boolean({
      description: 'Whether the server accepts the `x-mock-fault` header'
    }),
    after: count('Sequence number of the last request before this state'),
    controlRequests: Type.Array(ControlRequest, {
      description: 'The control requests after this state, oldest first'
    }),
    targets: recordOf(
      Type.String(),
      'Path and query of each request whose URL has an unusual encoding, by sequence number'
    ),
    times: recordOf(
      Type.Number(),
      "For each request's sequence number, the time that the request read from the environment's " +
        'clock, in milliseconds since 1970. A request that read its arrival time has no entry'
    ),
    isComplete: Type.Boolean({
      description:
        'Whether the journal still has all requests and control requests after this state'
    })
  }
)
export type TestStart = Static<typeof TestStart>

export const TestRecord = namedObject(
  'TestRecord',
  'The requests and changes of a test, and the leftover changes of its environment',
  {
    ...TestDescription.properties,
    title: Type.String({
      description: 'Title of the test; defaults to the name of the environment'
    }),
    outcome: stringEnum(OUTCOMES, {
      description: 'Outcome of the test; `unknown` if it was not reported'
    }),
    started: dateTime("Creation time of the environment, by the machine's clock"),
    duration: milliseconds(
      'Duration of the test in milliseconds; defaults to the lifetime of the environment'
    ),
    environment: Type.String({ description: 'Name of the environment' }),
    requests: exchanges('The requests to the environment, oldest first'),
    lost: count(
      'Number of older requests that are missing because the journal dropped them or because ' +
        'the test has more than 16 MiB of requests'
    ),
    unauthenticatedAfter: count(
      'Sequence number of the last unauthenticated request before the test'
    ),
    unauthenticatedUpTo: count(
      'Sequence number of the last unauthenticated request during the test. ' +
        'Unauthenticated requests with numbers from `unauthenticatedAfter` + 1 to this number ' +
        'arrived during the test, but parallel tests may have sent some of them'
    ),
    faults: Type.Array(ref(FaultRule), {
      description: 'The fault rules at the end of the test, with their counters'
    }),
    start: Type.Optional(
      ref(TestStart, 'The starting state of the test; absent unless requested with `states`')
    ),
    startMissing: Type.Optional(
      Type.String({ description: 'Why `start` is missing although it was requested' })
    ),
    changes: Type.Array(ref(Change), {
      description: 'The changes that control routes made to the environment between the requests'
    }),
    left: Type.Optional(
      ref(
        EnvironmentDiff,
        'How the final state differs from the baseline; absent if no difference was found. ' +
          'For each kind of record, at most 500 are compared'
      )
    )
  }
)
export type TestRecord = Static<typeof TestRecord>

export const OtherRequest = namedObject('OtherRequest', 'A request that belongs to no test', {
  ...RecordedExchange.properties,
  environment: Type.String({ description: 'Name of the environment' })
})
export type OtherRequest = Static<typeof OtherRequest>

export const RunRecord = namedObject('RunRecord', 'The report of a run', {
  run: strictObject(
    {
      started: dateTime("Start time of the server, by the machine's clock"),
      duration: milliseconds('Milliseconds since the server started'),
      version: Type.String({ description: 'Version of notification-mock' }),
      profile: ref(ProfileName),
      assumptions: recordOf(
        Type.String(),
        "The server's assumptions whose values differ from the profile"
      ),
      node: Type.String({ description: 'Version of Node.js that runs the server' })
    },
    { description: 'The run and its server' }
  ),
  coverage: ref(Coverage),
  tests: Type.Array(ref(TestRecord), {
    description: 'Failed tests first, then all other tests, each group from oldest to newest'
  }),
  unauthenticated: exchanges('The most recent unauthenticated requests, in chronological order'),
  others: Type.Array(ref(OtherRequest), {
    description: 'Requests to environments that belong to no test'
  }),
  baselines: Type.Array(freeObject('Records in the format of a seed'), {
    description: 'The records of each baseline. Tests with equal baselines share an entry'
  }),
  dropped: count(
    'Number of tests that are missing from the report. The server keeps at most 200 tests of ' +
      'removed environments, and a report is at most 64 MiB'
  ),
  lost: count(
    'Number of older requests that belong to no test and are missing because the journal ' +
      "dropped them or they didn't fit into the report"
  )
})
export type RunRecord = Static<typeof RunRecord>
