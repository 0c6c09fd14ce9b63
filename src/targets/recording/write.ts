import { type FileHandle, open, rename, unlink } from 'node:fs/promises'
import { join, parse } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { deleteAbandoned, tempFileBeside } from '../../core/replace-file.js'
import { SEED_TEXT, type SeedFormat } from '../../seeds/export.js'
import { FILE_LIMITS } from '../../seeds/limits.js'

export interface SeedContent {
  /** Lines about the seed, for YAML. */
  comment: readonly string[]
  settings: { name: string }
  /** Only its owner can read it. */
  isPrivate: boolean
  /** The records of each list, one after the other. */
  lists: Record<string, Iterable<object>>
}

/** How much of what a file may have is used. */
const SHARE = 0.75
const BUFFER = 1024 * 1024

/**
 * Writes a seed, of which no more than some records are in memory, and returns the names of its files: one, or as many
 * as the limits of seeds take. All are there, or those that were before.
 */
export async function writeSeed(out: string, content: SeedContent, check: () => void): Promise<string[]> {
  const format: SeedFormat = /\.json$/i.test(out) ? 'json' : 'yaml'
  const temporary: string[] = []
  let handle: FileHandle | undefined
  await deleteAbandoned(out)
  try {
    for await (const { part, text } of partsOf(content, format)) {
      check()
      if (part >= temporary.length) {
        await finish(handle)
        const file = tempFileBeside(out)
        handle = await open(file, 'wx', content.isPrivate ? 0o600 : 0o666)
        temporary.push(file)
      }
      await handle?.write(text)
    }
    await finish(handle)
    handle = undefined
    const names = temporary.map((_, index) => partName(out, index))
    // The first one last: it is whole only with the others.
    for (const index of [...temporary.keys()].reverse()) await rename(temporary[index] ?? '', names[index] ?? '')
    return names
  } finally {
    await handle?.close()
    for (const file of temporary) await unlink(file).catch(() => {})
  }
}

async function finish(handle: FileHandle | undefined): Promise<void> {
  await handle?.sync()
  await handle?.close()
}

/** `seed.yaml`, `seed-2.yaml`, ... */
function partName(out: string, index: number): string {
  const { dir, name, ext } = parse(out)
  return index === 0 ? out : join(dir, `${name}-${index + 1}${ext}`)
}

/** Yields the text of each part in pieces of about a megabyte. */
async function* partsOf({ comment, settings, lists }: SeedContent, format: SeedFormat) {
  const { head, open: begin, item, close, tail } = SEED_TEXT[format]
  const isJson = format === 'json'
  const maxText = SHARE * (isJson ? FILE_LIMITS.json : FILE_LIMITS.yaml)
  const maxValues = SHARE * (isJson ? FILE_LIMITS.jsonValues : FILE_LIMITS.yamlValues)
  const heading = isJson ? '' : comment.map((line) => `# ${line}\n`).join('')
  let part = 0
  let buffered = heading + head(settings)
  let length = buffered.length
  let values = 0
  for (const [name, records] of Object.entries(lists)) {
    let isEmpty = true
    for (const record of records) {
      let text = item(record, isEmpty)
      if (length + text.length > maxText || values > maxValues) {
        yield { part, text: `${buffered}${isEmpty ? '' : close}${tail}` }
        part += 1
        buffered = head(onlyNames(settings))
        length = 0
        values = 0
        isEmpty = true
        text = item(record, true)
      }
      if (isEmpty) buffered += begin(name, false)
      isEmpty = false
      buffered += text
      length += Buffer.byteLength(text)
      values += countValues(text)
      if (buffered.length < BUFFER) continue
      yield { part, text: buffered }
      buffered = ''
      await setImmediate()
    }
    buffered += isEmpty ? (part === 0 ? begin(name, true) : '') : close
  }
  yield { part, text: `${buffered}${tail}${isJson ? '\n' : ''}` }
}

/** A later part says which environment it is of, and nothing else about it. */
function onlyNames(settings: object): object {
  return Object.fromEntries(
    Object.entries(settings).filter(([name]) => ['name', '_id', '_organizationId'].includes(name))
  )
}

/** As the limits count them. */
function countValues(text: string): number {
  return text.match(/[\n,[{]/g)?.length ?? 0
}
