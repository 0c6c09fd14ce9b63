import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { extname } from 'node:path'
import { WALL } from '../../core/clock.js'
import type { EnvironmentData } from '../environment-data.js'
import { exportSeed } from '../export.js'
import type { Generation } from './generation.js'
import { tempFileFor } from './temp-file.js'

export type OutFormat = 'yaml' | 'ndjson'

const FORMATS: Record<string, OutFormat> = { '.yaml': 'yaml', '.yml': 'yaml', '.ndjson': 'ndjson', '.jsonl': 'ndjson' }

/** Returns the format of a file of this name; undefined of other names. */
export function outFormatOf(file: string): OutFormat | undefined {
  return FORMATS[extname(file).toLowerCase()]
}

/** In characters. */
const CHUNK_LENGTH = 1 << 17

/**
 * Writes generated messages to a file: as YAML a seed of the whole environment, as NDJSON the generated messages alone,
 * one seed message a line. Calls `onProgress` with the count of messages written so far.
 *
 * The file is replaced as a whole or left as it was. When the signal aborts, rejects with its reason within milliseconds.
 */
export async function writeGenerated(
  file: string,
  format: OutFormat,
  { environment, generation }: { environment: EnvironmentData; generation: Generation },
  { signal, onProgress }: { signal?: AbortSignal; onProgress?: (count: number) => void } = {}
): Promise<void> {
  const tempFile = tempFileFor(file)
  const handle = await open(tempFile, 'wx')
  try {
    await writeAll(handle)
    await handle.sync()
    await handle.close()
    signal?.throwIfAborted()
    await rename(tempFile, file)
  } catch (error) {
    await handle.close()
    await rm(tempFile, { force: true })
    throw error
  }

  async function writeAll(handle: FileHandle): Promise<void> {
    let text = format === 'yaml' ? seedUpToMessages(environment, generation) : ''
    let count = 0
    const indent = format === 'yaml' ? '      - ' : ''
    for (const message of generation.seedMessages()) {
      text += `${indent}${message}\n`
      count += 1
      if (text.length < CHUNK_LENGTH) continue
      await handle.writeFile(text)
      text = ''
      onProgress?.(count)
      signal?.throwIfAborted()
    }
    if (format === 'yaml' && count + environment.messages.length === 0) text += '      []\n'
    await handle.writeFile(text)
    onProgress?.(count)
  }
}

/** The seed up to its first generated message. What stands within a line is JSON, which is YAML too. */
function seedUpToMessages(environment: EnvironmentData, { subscribers }: Generation): string {
  const { id, organizationId, apiKeys, clock = WALL, randomSeed = null } = environment
  const all = { ...environment, clock, randomSeed, subscribers: [...environment.subscribers, ...subscribers] }
  const { name, messages, ...rest } = exportSeed(all)
  const fields = { name, _id: id, _organizationId: organizationId, apiKeys, ...rest, messages }
  const lines = Object.entries(fields).flatMap(([field, value]) => {
    if (!LISTS.includes(field)) return [`    ${field}: ${JSON.stringify(value)}`]
    const items = (value as object[]).map((item) => `      - ${JSON.stringify(item)}`)
    return items.length > 0 || field === 'messages' ? [`    ${field}:`, ...items] : []
  })
  return ['environments:', ...lines, ''].join('\n').replace('    name:', '  - name:')
}

const LISTS = ['integrations', 'subscribers', 'workflows', 'messages']
