import { idOf } from '../../core/ids.js'
import { runToEnd } from '../../core/slices.js'
import type { EnvironmentData } from '../environment-data.js'
import { byLocation, createIssue, type IssueList, SeedError } from '../errors.js'
import { type ExistingData, leavingReplaced } from '../existing-data.js'
import type { SeedEnvironment } from '../format.js'
import { FILE_LIMITS } from '../limits.js'
import type { SeedFile } from '../read.js'
import { environmentBuilder, locationIn, type SeedTarget } from './builder.js'
import { addApiKeys, addSettings, type Building, type KeyOwner, withBuilders } from './environments.js'
import { addIntegration } from './integrations.js'
import { addMessage, setGenerate } from './messages.js'
import { addSubscriber } from './subscribers.js'
import { addingWorkflow } from './workflows.js'

interface Options {
  /** The one environment to return, whatever the seed calls it. */
  target?: SeedTarget
  /** The target's records, which those of the seed replace where `_id`, identifier or subscriberId is the same. */
  existing?: ExistingData | undefined
  ownerOf?: KeyOwner
}

/**
 * Returns the environments that the seeds describe, with every reference resolved and every default filled in; the same
 * seeds at the same `now`, in milliseconds since 1970, give the same data. Environments of the same organization and
 * name are one, also across files. Messages are those of the seeds only.
 *
 * Throws SeedError with every broken reference, duplicate and second primary, and every API key that `ownerOf` says
 * belongs to an environment of none of the seeds.
 */
export function resolveSeeds(files: readonly SeedFile[], now: number, options: Options = {}): EnvironmentData[] {
  return runToEnd(resolving(files, now, options))
}

/** Does what `resolveSeeds` does, with a step for each record and each step of a workflow. */
export function* resolving(
  files: readonly SeedFile[],
  now: number,
  { target, existing, ownerOf }: Options = {}
): Generator<void, EnvironmentData[]> {
  const issues = new Map<SeedFile, IssueList>()
  const described = files.flatMap((file) => locatedIn(file, issues))
  const located = target ? yield* inTarget(target) : withBuilders(described, now)
  for (const each of located) addSettings(each)
  if (!target) addApiKeys(located, ownerOf)
  for (const { seed, location, builder } of located) {
    const { integrations = [], subscribers = [], workflows = [] } = seed
    for (const [at, each] of integrations.entries())
      yield addIntegration(builder, each, location.at('integrations', at))
    for (const [at, each] of subscribers.entries()) yield addSubscriber(builder, each, location.at('subscribers', at))
    for (const [at, each] of workflows.entries()) {
      yield yield* addingWorkflow(builder, each, location.at('workflows', at))
    }
  }
  // After the records of all files, which they refer to.
  for (const { seed, location, builder } of located) {
    const { messages = [] } = seed
    for (const [at, each] of messages.entries()) yield addMessage(builder, each, location.at('messages', at))
    if (seed.generate) setGenerate(builder, seed.generate, location.at('generate'))
  }
  throwIssues([...issues.values()])
  return [...new Set(located.map(({ builder }) => builder.data))]

  function* inTarget(wanted: SeedTarget): Generator<void, Building[]> {
    const [first, second] = described
    const [file] = files
    if (file && !first)
      throw new SeedError([file.issueAt(['environments'], `must have one environment: ${ONE_ENVIRONMENT}`)])
    if (second) second.location.report(`is one too many: ${ONE_ENVIRONMENT}`)
    if (!first) return []
    const { organization = '', _organizationId = idOf('organization', organization), name } = first.seed
    const { remaining, replacedIds } = existing ? yield* leavingReplaced(existing.seed, first.seed) : {}
    const idBase = [_organizationId, name]
    const builder = environmentBuilder({ target: wanted, existing, location: first.location, idBase, replacedIds, now })
    // What an environment holds already is resolved as if a first file described it.
    const all = [...(remaining ? locatedIn(fileOfExisting(remaining), issues) : []), first]
    return all.map((each) => ({ ...each, builder }))
  }
}

const ONE_ENVIRONMENT = 'a seed that is loaded into an environment has no more and no less'

function throwIssues(lists: readonly IssueList[]): void {
  const sorted = lists.flatMap(({ issues }) => issues.sort(byLocation))
  const more = lists.reduce((sum, list) => sum + list.more, 0)
  if (sorted.length > 0) throw new SeedError(sorted, more)
}

function locatedIn(file: SeedFile, issues: Map<SeedFile, IssueList>) {
  const own: IssueList = { issues: [], more: 0 }
  issues.set(file, own)
  return file.seed.environments.map((seed, index) => ({
    seed,
    location: locationIn(file, own, ['environments', index])
  }))
}

function fileOfExisting(environment: SeedEnvironment): SeedFile {
  const issueAt: SeedFile['issueAt'] = (_path, message) =>
    createIssue({ file: 'the environment itself', path: '', message })
  return { seed: { environments: [environment] }, limits: FILE_LIMITS, issueAt }
}
