export {
  type AttachedEnvironment,
  type ClockTime,
  type ConnectedMock,
  connect,
  type Environment,
  type EnvironmentOptions,
  type ResetOptions,
  type SeedContent,
  type StoredSnapshot
} from './connect.js'
export type { ConnectOptions } from './connection.js'
export type * from './control-api.js'
export type { Duration } from './duration.js'
export { type InvalidField, MockError } from './errors.js'
export { HINT_IDS, type Hint, type HintId, hintsOf } from './hints.js'
export { type Report, type ReportedTest, type RunFacts, reportOf } from './report.js'
export type { ExpectedRequests, RequestFilter, Requests } from './requests.js'
export type { StreamOptions } from './stream.js'
