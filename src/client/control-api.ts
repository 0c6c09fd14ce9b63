/**
 * The types of the control routes' request and response bodies. Each type is derived from the
 * TypeBox schema of the same name. scripts/client-types.mjs writes them as plain TypeScript, so
 * that the package's type declarations don't depend on TypeBox.
 */

export type {
  CreatedEnvironment,
  ListedEnvironment,
  NewEnvironment
} from '../control/environments/routes.js'
export type * from '../control/records/routes.js'
export type {
  OtherRequest,
  ReportState,
  RunRecord,
  TestDescription,
  TestRecord,
  TestStart
} from '../control/report/schemas.js'
export type { BuiltInSeed, ListedAssumption as Assumption } from '../control/server/routes.js'
export type { ClockState, ResetPart, ResetResult } from '../control/state/routes.js'
export type { Coverage, CoverageItem, OperationCoverage } from '../coverage/schemas.js'
export type {
  ClockSetting,
  EnvironmentDiff,
  FieldChange,
  RecordDiff,
  Snapshot
} from '../environments/schemas.js'
export type * from '../faults/schemas.js'
export type { Integration } from '../integrations/schemas.js'
export type { JournalQuery } from '../journal/filter.js'
export type {
  Change,
  OperationName as Operation,
  RecordedExchange,
  RecordedRequest,
  RecordedResponse,
  RequestPattern,
  Verification,
  VerificationResult
} from '../journal/schemas.js'
export type { MessageResponse } from '../messages/schemas.js'
export type { FoundMessages, MessageSearch } from '../messages/search.js'
export type * from '../replay/schemas.js'
export type { ChangedRecord } from '../schema/shared.js'
export type * from '../seeds/format.js'
export type { AddedStub, NewStub, Stub, StubResponse } from '../stubs/schemas.js'
export type { WorkflowStep } from '../workflow-steps/schemas.js'
