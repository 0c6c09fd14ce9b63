import { writeFile } from 'node:fs/promises'
import { extname } from 'node:path'
import { WALL } from '../../core/clock.js'
import type { EnvironmentData } from '../environment-data.js'
import { exportSeed } from '../export.js'
import type { GeneratedMessage, Generation } from './generation.js'
import { replaceFile } from './replace-file.js'

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
export function writeGenerated(
  file: string,
  format: OutFormat,
  { environment, generation }: { environment: EnvironmentData; generation: Generation },
  { signal, onProgress }: { signal?: AbortSignal; onProgress?: (count: number) => void } = {}
): Promise<void> {
  return replaceFile(file, (tempFile) => writeFile(tempFile, chunks()))

  function* chunks(): Generator<string> {
    let text = format === 'yaml' ? seedUpToMessages(environment, generation) : ''
    let count = 0
    for (const message of generation.messages()) {
      text += `${format === 'yaml' ? ITEM : ''}${JSON.stringify(toSeedMessage(message))}\n`
      count += 1
      if (text.length < CHUNK_LENGTH) continue
      yield text
      text = ''
      onProgress?.(count)
      signal?.throwIfAborted()
    }
    if (format === 'yaml' && count + environment.messages.length === 0) text += '      []\n'
    yield text
    onProgress?.(count)
    signal?.throwIfAborted()
  }
}

/** A seed refers to the subscriber and the workflow instead of repeating them. */
function toSeedMessage(message: GeneratedMessage): object {
  const { _templateId, templateIdentifier, _environmentId, _organizationId, _subscriberId, subscriber, ...fields } =
    message
  return { workflow: templateIdentifier, subscriberId: subscriber.subscriberId, ...fields }
}

const ITEM = '      - '

/** The seed up to its first generated message. What stands within a line is JSON, which is YAML too. */
function seedUpToMessages(environment: EnvironmentData, { subscribers }: Generation): string {
  const { id, organizationId, apiKeys, clock = WALL, randomSeed = null } = environment
  const all = { ...environment, clock, randomSeed, subscribers: [...environment.subscribers, ...subscribers] }
  const { name, messages = [], ...rest } = exportSeed(all)
  const fields = { _id: id, _organizationId: organizationId, apiKeys, ...rest }
  const lines = Object.entries(fields).map(([field, value]) => {
    const isList = Array.isArray(value) && value.length > 0
    return `    ${field}:${isList ? listOf(value) : ` ${JSON.stringify(value)}`}\n`
  })
  return `environments:\n  - name: ${JSON.stringify(name)}\n${lines.join('')}    messages:${listOf(messages)}\n`
}

function listOf(items: readonly unknown[]): string {
  return items.map((item) => `\n${ITEM}${JSON.stringify(item)}`).join('')
}
