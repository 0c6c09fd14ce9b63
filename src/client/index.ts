export {
  type ConnectedMock,
  connect,
  connectInProcess,
  type Environment,
  type EnvironmentOptions,
  type RunRecordOptions
} from './connect.js'
export { type ConnectOptions, type Duration, type InvalidField, MockError } from './connection.js'
export type * from './control-api.js'
export type {
  AttachedEnvironment,
  ClockTime,
  FunctionStub,
  ResetOptions,
  RestoreOptions,
  SeedContent,
  StoredSnapshot,
  StubReply,
  StubRequest
} from './environment.js'
export type { Hint, HintId, StrictOptions } from './hints.js'
export type { Report, ReportedTest, RunFacts } from './report.js'
export type { ExpectedRequests, RequestFilter, Requests } from './requests.js'
export type { StreamOptions } from './stream.js'
