import { CoverageService } from './coverage/service.js'
import type { Db } from './db/open.js'
import { type Clock, steadyClock } from './domain/clock.js'
import type { LatencyPreset, LatencySetting } from './domain/latency.js'
import { type EnvironmentDefaults, EnvironmentService } from './environments/service.js'
import { LatencyService } from './faults/latency.js'
import { FaultService } from './faults/service.js'
import { IdempotencyService } from './idempotency/service.js'
import { IntegrationService } from './integrations/service.js'
import { createDescriber } from './journal/describe.js'
import { createRedaction } from './journal/redaction.js'
import { JournalService } from './journal/service.js'
import { MessageService } from './messages/service.js'
import { ReplayService } from './replay/service.js'
import { StubService } from './stubs/service.js'
import { WorkflowStepService } from './workflow-steps/service.js'

export type Services = ReturnType<typeof createServices>

export interface ServiceOptions {
  db: Db
  clock: Clock
  /** The clock that decides when environments expire. Default: `steadyClock`, which never jumps. */
  machineClock?: Clock
  defaults: EnvironmentDefaults
  /** The number of requests that each journal keeps. */
  journal: number
  faultHeader?: boolean
  /** The latency for environments that don't set their own. Default: none. */
  latency?: LatencyPreset | LatencySetting
  /** A token that lets other machines manage environments. Without it, only this machine can. */
  adminToken?: string | undefined
  /** The API key of the fallback server. */
  fallbackKey?: string | undefined
}

/**
 * Creates and connects all services except the seed service, which is loaded only when it is
 * needed.
 */
export function createServices(options: ServiceOptions) {
  const {
    db,
    clock,
    machineClock = steadyClock,
    defaults,
    journal,
    faultHeader = false,
    adminToken,
    fallbackKey
  } = options
  const serverSecrets = [adminToken, fallbackKey].filter((secret) => secret !== undefined)
  const faults = new FaultService({ acceptsHeader: faultHeader })
  const latency = new LatencyService(options.latency ?? 'none')
  const environments = new EnvironmentService({ db, clock, machineClock, defaults })
  const redactionOf = createRedaction(environments, serverSecrets)
  const describer = createDescriber(redactionOf, faultHeader)
  const coverage = new CoverageService(defaults)
  const journals = new JournalService({
    capacity: journal,
    clock,
    describer,
    count: (entry, environment) => coverage.count(entry, environment)
  })
  environments.subscribe({
    onRemoved: ({ key }) => journals.drop(key),
    onReset(environment, parts) {
      if (parts.includes('requests')) journals.of(environment).clear()
      if (parts.includes('faults')) {
        faults.reset(environment)
        latency.reset(environment)
      }
    }
  })
  return {
    startedAt: steadyClock(),
    adminToken,
    fileProblem: db.fileProblem,
    redactionOf,
    journals,
    faults,
    latency,
    coverage,
    environments,
    replays: new ReplayService(),
    stubs: new StubService({ environments }),
    messages: new MessageService({ db, environments }),
    integrations: new IntegrationService({ db, environments }),
    workflowSteps: new WorkflowStepService({ db }),
    idempotency: new IdempotencyService({ db, environments })
  }
}
