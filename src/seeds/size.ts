import type { Datasets } from '../environments/service.js'
import type { Seed } from './format.js'
import { RECORD_KINDS, type SeedRepository } from './repository.js'

/** The size up to which a seed is loaded in one go, counted in records: some hundredths of a second. */
export const MAX_AT_ONCE = 1000

/** So many characters of JSON count as one record: those of a template, the slowest to load, take as long as a record. */
const RECORD_LENGTH = 60
/** Records that a generated message takes. */
const GENERATED_WEIGHT = 5

export function addsMessages({ environments }: Seed): boolean {
  return environments.some(({ messages = [], generate }) => messages.length > 0 || generate)
}

/** How large a seed is, in records; beyond `MAX_AT_ONCE` not how much larger. Generated messages are counted too. */
export function sizeOf(seed: Seed): number {
  const records = seed.environments.reduce(
    (sum, { integrations = [], subscribers = [], workflows = [], messages = [], generate }) => {
      const steps = workflows.flatMap((workflow) => workflow.steps ?? [])
      const lists = [integrations, subscribers, workflows, steps, messages]
      const generated = GENERATED_WEIGHT * (generate?.messages ?? 0) + (generate?.subscribers ?? 0)
      return lists.reduce((all, each) => all + each.length, sum + generated)
    },
    0
  )
  if (records > MAX_AT_ONCE) return records
  return Math.max(records, lengthOf(seed, (MAX_AT_ONCE + 1) * RECORD_LENGTH) / RECORD_LENGTH)
}

/** About how many characters of JSON a value is, aliases included; beyond the limit not how many more. */
function lengthOf(value: unknown, limit: number): number {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null) return 5
  let length = 2
  for (const [name, each] of Object.entries(value)) {
    if (length > limit) break
    length += name.length + lengthOf(each, limit - length)
  }
  return length
}

/** Returns how many records of the kinds datasets have, but of no kind more than it takes to be too many. */
export function countUpToLimit(repository: SeedRepository, datasets: Datasets, kinds = RECORD_KINDS): number {
  const counts = Object.values(repository.countRecords(datasets, MAX_AT_ONCE + 1, kinds))
  return counts.reduce((sum, count) => sum + count, 0)
}
