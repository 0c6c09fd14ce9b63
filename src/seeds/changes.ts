import type { World } from './environment-data.js'
import type { SeedError } from './errors.js'

/** What an environment has many of, and a change of its seeds is counted in. */
export const CHANGE_KINDS = ['apiKeys', 'integrations', 'subscribers', 'workflows', 'steps', 'messages'] as const
export type ChangeKind = (typeof CHANGE_KINDS)[number]

/** What an environment has one of; `order` is that of its records, and changed only when nothing else is. */
export const CHANGE_SETTINGS = [
  'name',
  'organization',
  'profile',
  'assumptions',
  'clock',
  'randomSeed',
  'generate',
  'order'
] as const
export type ChangeSetting = (typeof CHANGE_SETTINGS)[number]

/** How many, told apart by their ids. */
export interface ChangeCount {
  added: number
  changed: number
  removed: number
}

/** What a change of the seeds has made of an environment. */
export interface SeedChange {
  id: string
  name: string
  change: 'added' | 'changed' | 'removed'
  /** Those that it has now. */
  apiKeys: string[]
  /** Of one that was there before and still is; kinds in which nothing changed are left out. */
  records: { [Kind in ChangeKind]?: ChangeCount }
  settings: ChangeSetting[]
}

/** What came of a change of the seed files. */
export type SeedReload =
  | { applied: true; changes: readonly SeedChange[] }
  /** Nothing of it was applied: the data is what it was. */
  | { applied: false; error: SeedError }

/** An environment as the seeds had it, or did not have it, and as they have it now. */
export interface WorldChange {
  former?: World
  present?: World
}

/** The worlds that are not the same any more, told apart by their ids: those there are, and then those that have gone. */
export function worldChanges(formers: readonly World[], presents: readonly World[]): WorldChange[] {
  const byId = new Map(formers.map((world) => [world.id, world]))
  const ids = new Set(presents.map(({ id }) => id))
  return [
    ...presents.flatMap((present): WorldChange[] => {
      const former = byId.get(present.id)
      if (!former) return [{ present }]
      return JSON.stringify(former) === JSON.stringify(present) ? [] : [{ former, present }]
    }),
    ...formers.filter(({ id }) => !ids.has(id)).map((former) => ({ former }))
  ]
}

/** What differs between two states of one world: counts, and names of settings. */
export function differences(former: World, present: World): Pick<SeedChange, 'records' | 'settings'> {
  const records: SeedChange['records'] = {}
  for (const kind of CHANGE_KINDS) {
    const count = counted(recordsOf(former, kind), recordsOf(present, kind))
    if (count.added + count.changed + count.removed > 0) records[kind] = count
  }
  const before = settingsOf(former)
  const after = settingsOf(present)
  const settings = CHANGE_SETTINGS.filter((name) => before[name] !== after[name])
  return {
    records,
    settings: settings.length === 0 && Object.keys(records).length === 0 ? ['order'] : settings
  }
}

/** Id -> the whole, as JSON. A key is its own id. */
function recordsOf(world: World, kind: ChangeKind): Map<string, string> {
  if (kind === 'apiKeys') return new Map(world.apiKeys.map((key) => [key, '']))
  const records: readonly { _id: string }[] = world[kind]
  return new Map(records.map((record) => [record._id, JSON.stringify(record)]))
}

function counted(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): ChangeCount {
  const count = { added: 0, changed: 0, removed: 0 }
  for (const [id, json] of after) {
    const former = before.get(id)
    if (former === undefined) count.added += 1
    else if (former !== json) count.changed += 1
  }
  for (const id of before.keys()) if (!after.has(id)) count.removed += 1
  return count
}

function settingsOf(world: World): { [Name in ChangeSetting]?: unknown } {
  const { name, organizationId: organization, profile, assumptions, clock, randomSeed, generate } = world
  return {
    name,
    organization,
    profile,
    randomSeed,
    assumptions: JSON.stringify(assumptions),
    clock: JSON.stringify(clock),
    generate: JSON.stringify(generate)
  }
}
