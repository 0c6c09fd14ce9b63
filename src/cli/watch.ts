import { CHANGE_KINDS, CHANGE_SETTINGS, type ChangeKind, type SeedChange, type SeedReload } from '../seeds/changes.js'
import { placeOf } from '../seeds/errors.js'

/** Tells what came of a change of the seed files: what it did on stdout, what is wrong with it on stderr. */
export function tellReload(reload: SeedReload, json: boolean): void {
  if (json) process.stdout.write(`${JSON.stringify(reloadJson(reload))}\n`)
  else if (reload.applied) process.stdout.write(reloadText(reload.changes))
  if (!reload.applied) process.stderr.write(`${reload.error.message}\n${UNCHANGED}\n`)
}

const UNCHANGED = 'the changed seed is not applied: the data stays as it was'

function reloadJson(reload: SeedReload) {
  if (reload.applied) return { event: 'seed-changed', applied: true, environments: reload.changes }
  const mistakes = reload.error.mistakes.map((mistake) => ({ place: placeOf(mistake), ...mistake }))
  return { event: 'seed-changed', applied: false, mistakes }
}

function reloadText(changes: readonly SeedChange[]): string {
  const lines = changes.length === 0 ? ['nothing that the data shows'] : changes.map(changeText)
  return lines.map((line) => `seed changed: ${line}\n`).join('')
}

function changeText({ name, change, apiKeys, records, settings }: SeedChange): string {
  if (change === 'removed') return `${name}: removed`
  if (change === 'added') return `${name}: new${apiKeys.length > 0 ? `, with the key ${apiKeys.join(', ')}` : ''}`
  const parts = [
    ...CHANGE_KINDS.toReversed().flatMap((kind) => {
      const count = records[kind]
      return count ? [countText(kind, count)] : []
    }),
    ...CHANGE_SETTINGS.filter((setting) => settings.includes(setting)).map((setting) => `${SETTINGS[setting]} changed`)
  ]
  // One that was there, and that the seeds have only now come to name.
  return `${name}: ${parts.length > 0 ? parts.join('; ') : 'replaced'}`
}

/** `2 messages added, 1 changed` */
function countText(kind: ChangeKind, count: Required<SeedChange['records']>[ChangeKind]): string {
  return (['added', 'changed', 'removed'] as const)
    .filter((way) => count[way] > 0)
    .map((way, place) => `${count[way]} ${place === 0 ? `${nounOf(kind, count[way])} ` : ''}${way}`)
    .join(', ')
}

function nounOf(kind: ChangeKind, count: number): string {
  const plural = kind === 'apiKeys' ? 'API keys' : kind
  return count === 1 ? plural.slice(0, -1) : plural
}

const SETTINGS: Record<SeedChange['settings'][number], string> = {
  name: 'name',
  organization: 'organization',
  profile: 'profile',
  assumptions: 'assumptions',
  clock: 'clock',
  randomSeed: 'random seed',
  generate: 'what is generated',
  order: 'order'
}
