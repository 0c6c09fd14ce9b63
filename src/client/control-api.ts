/**
 * What goes over the wire, by the schemas of the same names. The declarations of the package say it without TypeBox:
 * scripts/client-types.mjs prints them from these schemas.
 */

export type { Coverage, CoverageItem, OperationCoverage } from '../control/coverage/schemas.js'
export type { CreatedEnvironment, ListedEnvironment, NewEnvironment } from '../control/environments/routes.js'
export type * from '../control/faults/schemas.js'
export type * from '../control/records/routes.js'
export type { OtherRequest, RunRecord, TestDescription, TestRecord } from '../control/report/schemas.js'
export type { JournalQuery } from '../control/requests/routes.js'
export type {
  Answer,
  AnsweredRequest,
  Change,
  OperationName as Operation,
  RecordedRequest,
  RequestPattern,
  Verification,
  VerificationResult
} from '../control/requests/schemas.js'
export type { ListedAssumption as Assumption, Scenario } from '../control/server/routes.js'
export type { ClockState, RandomSetting, ResetPart, ResetResult } from '../control/state/routes.js'
export type { ChangedRecord } from '../core/schemas.js'
export type {
  ClockSetting,
  FieldDifference,
  RecordDifferences,
  Snapshot,
  SnapshotDifferences
} from '../environments/schemas.js'
export type { Integration } from '../integrations/schemas.js'
export type { MessageResponse } from '../messages/schemas.js'
export type * from '../seeds/format.js'
export type { WorkflowStep } from '../workflow-steps/schemas.js'
