import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

// biome-ignore lint/suspicious/noExplicitAny: any OpenAPI document
type Document = any

export interface Prism {
  url: string
  stop(): void
}

/**
 * Starts Prism as a validating proxy in front of a server. By default, Prism itself rejects invalid
 * and unauthenticated requests. `--no-validate-request`, and a document without `security`, make
 * Prism forward these requests, so that it also checks the server's error responses.
 */
export function startPrism(
  toolsFolder: string,
  document: Document,
  upstream: string
): Promise<Prism> {
  const text = JSON.stringify(withoutSecurity(document))
  return runPrism(toolsFolder, text, (file) => ['proxy', file, upstream, '--no-validate-request'])
}

/** Starts Prism as a server that makes up responses from an OpenAPI document. */
export function startPrismMock(toolsFolder: string, document: string): Promise<Prism> {
  return runPrism(toolsFolder, document, (file) => ['mock', file])
}

function runPrism(
  toolsFolder: string,
  document: string,
  argumentsFor: (file: string) => string[]
): Promise<Prism> {
  const folder = mkdtempSync(join(tmpdir(), 'notification-mock-prism-'))
  const file = join(folder, 'openapi.yaml')
  writeFileSync(file, document)
  const prism = join(toolsFolder, 'node_modules/@stoplight/prism-cli/dist/index.js')
  const args = [...argumentsFor(file), '--port', '0', '--host', '127.0.0.1']
  const child = spawn(process.execPath, [prism, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  const stop = () => {
    child.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  }
  let output = ''
  let url: string | undefined
  return new Promise((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        // After Prism has started, ignore its output: it logs every request.
        if (url !== undefined) return
        output += text
        url = /Prism is listening on (http:\S+:\d+)/.exec(output)?.[1]
        if (url !== undefined) resolve({ url, stop })
      })
    }
    child.on('error', reject)
    child.on('close', () => reject(new Error(`Prism ended: ${output}`)))
  })
}

function withoutSecurity(document: Document): Document {
  const copy = structuredClone(document)
  delete copy.security
  const operations = Object.values<Document>(copy.paths).flatMap((methods) =>
    Object.values<Document>(methods)
  )
  for (const operation of operations) delete operation.security
  return copy
}

/**
 * Returns the violations that Prism lists in a response header. Throws if the header was cut off.
 */
export function violationsIn({
  'sl-violations': header = '[]'
}: Record<string, string>): string[] | 'not in the document' {
  const violations = JSON.parse(header) as { location: string[]; message: string }[]
  if (violations.some(({ message }) => message === 'Selected route not found'))
    return 'not in the document'
  return violations.map(({ location, message }) => `${location.join('.')}: ${message}`)
}
