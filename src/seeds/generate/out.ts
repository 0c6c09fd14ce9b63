import { writeFile } from 'node:fs/promises'
import { WALL } from '../../core/clock.js'
import { replaceFile } from '../../core/replace-file.js'
import type { EnvironmentData } from '../environment-data.js'
import { exportSeed } from '../export.js'
import type { GeneratedMessage, Generation } from './generation.js'

/** The names that a file can have: a seed's, or that of lines of JSON. */
export const OUT_NAME = /\.(ya?ml|ndjson|jsonl)$/i

/** In characters. */
const CHUNK_LENGTH = 1 << 17

/**
 * Writes generated messages to a file: to `.yaml` a seed of the whole environment, else the generated messages alone, one
 * seed message a line. Calls `onProgress` with the count of messages written so far.
 *
 * The file is replaced as a whole or left as it was. When the signal aborts, rejects with its reason within milliseconds.
 */
export function writeGenerated(
  file: string,
  { environment, generation }: { environment: EnvironmentData; generation: Generation },
  { signal, onProgress }: { signal?: AbortSignal; onProgress?: (count: number) => void } = {}
): Promise<void> {
  const isSeed = /\.ya?ml$/i.test(file)
  return replaceFile(file, (tempFile) => writeFile(tempFile, chunks()))

  function* chunks(): Generator<string> {
    let text = isSeed ? seedUpToMessages(environment, generation) : ''
    let count = 0
    for (const message of generation.messages()) {
      text += `${isSeed ? ITEM : ''}${JSON.stringify(toSeedMessage(message))}\n`
      count += 1
      if (text.length < CHUNK_LENGTH) continue
      yield text
      text = ''
      onProgress?.(count)
      signal?.throwIfAborted()
    }
    if (isSeed && count + environment.messages.length === 0) text += '      []\n'
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
