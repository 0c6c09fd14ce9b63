import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ReadableStream } from 'node:stream/web'
import { type Command, Option } from 'commander'
import { StartError } from '../core/errors.js'
import { serverUrl, USUAL_URL, usualServer } from './health.js'
import { addOptions, textOption } from './options.js'
import { keyOption } from './target-options.js'

interface ExportFlags {
  apiKey: string
  out?: string
  json?: true
}

export function addSeedExport(seed: Command): void {
  const command = seed
    .command('export')
    .description('write what an environment of a running server holds as a seed, which gives the same answers')
    .argument('[url]', `the server; by default NOTIFICATION_MOCK_URL, or else ${USUAL_URL}`, serverUrl)
  addOptions(command, [
    keyOption('--api-key <key>', 'a key of the environment'),
    textOption('--out <file>', 'write it to this file, .yaml or .json, instead of stdout', 'none'),
    new Option('--json', 'write JSON instead of YAML')
  ]).action((argument: string | undefined, flags: ExportFlags) => exportSeed(argument ?? usualServer(), flags))
}

async function exportSeed(server: string, { apiKey, out, json }: ExportFlags): Promise<void> {
  const format = json || out?.endsWith('.json') ? 'json' : 'yaml'
  const headers = { authorization: `ApiKey ${apiKey}`, accept: `application/${format}` }
  const response = await fetch(`${server}/_mock/state`, { headers }).catch(({ cause, message }) => {
    throw new StartError(`${server}: no answer: ${cause?.code ?? cause?.message ?? message}`)
  })
  if (!response.ok || !response.body) {
    const reason = response.headers.get('x-mock-reason') ?? 'is it a notification-mock?'
    throw new StartError(`${server} answers ${response.status}: ${reason}`)
  }
  const body = Readable.fromWeb(response.body as ReadableStream)
  if (out === undefined) return print(body, format)
  const { replaceFile } = await import('./work.js')
  await replaceFile(out, (tempFile) => pipeline(body, createWriteStream(tempFile))).catch((error) => {
    throw new StartError(`can't write ${out}: ${error.code ?? error.message}; it is as it was`)
  })
  process.stdout.write(`${server} written to ${out}\n`)
}

/** Not by a pipeline, which would close stdout, and which a reader that has enough would make fail. */
async function print(body: Readable, format: string): Promise<void> {
  for await (const piece of body) {
    if (process.stdout.errored) return
    if (!process.stdout.write(piece)) await once(process.stdout, 'drain').catch(() => {})
  }
  if (format === 'json') process.stdout.write('\n')
}
