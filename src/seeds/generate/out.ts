import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { extname } from 'node:path'
import { WALL } from '../../core/clock.js'
import type { EnvironmentData } from '../environment-data.js'
import { exportSeed } from '../export.js'
import type { SeedEnvironment } from '../format.js'
import { draftOf } from './draft.js'
import type { Generation } from './generation.js'

export type OutForm = 'yaml' | 'ndjson'

/** The form that a file of this name is written in; undefined of names that tell none. */
export function outFormOf(file: string): OutForm | undefined {
  return FORMS[extname(file).toLowerCase()]
}

const FORMS: Record<string, OutForm> = { '.yaml': 'yaml', '.yml': 'yaml', '.ndjson': 'ndjson', '.jsonl': 'ndjson' }

/**
 * Writes what was generated to a file: as a seed of the whole environment, or, as NDJSON, the generated messages alone, one in the form of seeds a line. `written` is told now and then how many are written.
 *
 * The file is there as a whole or is as it was before, also when the signal aborts it, which takes milliseconds and
 * throws the signal's reason.
 */
export async function writeGenerated(
  file: string,
  form: OutForm,
  { world, generation }: { world: EnvironmentData; generation: Generation },
  { signal, written }: { signal?: AbortSignal; written?: (count: number) => void } = {}
): Promise<void> {
  const unfinished = draftOf(file)
  const handle = await open(unfinished, 'wx')
  try {
    await writeAll(handle)
    await handle.sync()
    await handle.close()
    signal?.throwIfAborted()
    await rename(unfinished, file)
  } catch (error) {
    await handle.close()
    await rm(unfinished, { force: true })
    throw error
  }

  async function writeAll(handle: FileHandle): Promise<void> {
    let text = form === 'yaml' ? headOf(world, generation) : ''
    let count = 0
    const before = form === 'yaml' ? '      - ' : ''
    for (const message of generation.seedMessages()) {
      text += `${before}${message}\n`
      count += 1
      if (text.length < CHUNK) continue
      await handle.writeFile(text)
      text = ''
      written?.(count)
      signal?.throwIfAborted()
    }
    if (form === 'yaml' && count + world.messages.length === 0) text += '      []\n'
    await handle.writeFile(text)
    written?.(count)
  }
}

/** In characters. */
const CHUNK = 1 << 17

/** The seed up to its first generated message. What stands within a line is JSON, which is YAML too. */
function headOf(world: EnvironmentData, { subscribers }: Generation): string {
  const { id, organizationId, apiKeys } = world
  const { clock = WALL, randomSeed = null } = world
  const stored = { ...world, clock, randomSeed, subscribers: [...world.subscribers, ...subscribers] }
  const { name, messages, ...rest } = exportSeed(stored).environments[0] as SeedEnvironment
  const fields = { name, _id: id, _organizationId: organizationId, apiKeys, ...rest, messages }
  const lines = Object.entries(fields).flatMap(([field, value], place) => {
    const before = place === 0 ? '  - ' : '    '
    if (!LISTS.includes(field)) return [`${before}${field}: ${JSON.stringify(value)}`]
    const items = value as object[]
    return items.length === 0 && field !== 'messages'
      ? []
      : [`${before}${field}:`, ...items.map((item) => `      - ${JSON.stringify(item)}`)]
  })
  return ['environments:', ...lines, ''].join('\n')
}

const LISTS = ['integrations', 'subscribers', 'workflows', 'messages']
