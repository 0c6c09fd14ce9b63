import { execFile } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { MAILGUN } from '../support/control.js'

const run = promisify(execFile)

export const NOWHERE = '66f1c2a47c9b1a0012adffff'
/** A query for messages. Clients must send `a,b` as one transaction id, not as two. */
export const QUERY = {
  channel: 'email',
  subscriberId: 'user-ada',
  transactionId: ['order-4711', 'a,b'],
  limit: 2
}

/**
 * The OpenAPI documents. Each key is the name of the client that is generated from the document.
 */
export type Documents = Record<'document' | 'live' | 'control', object>

/** A client generator, and the code that programs need to use its clients. */
interface Generator {
  /** Returns the arguments to run the generator with Node. */
  command(name: string): string[]
  /** Returns a program's first part. It declares `Query`, `setPrimary`, `list` and `retrieve`. */
  head(name: string): string
  /** Additional compiler options. */
  options: object
}

const START = `
declare const process: { argv: string[] }
const [, , baseUrl = '', key = ''] = process.argv
`

export const GENERATORS = {
  'openapi-typescript with openapi-fetch': {
    command: (name) => [
      'node_modules/openapi-typescript/bin/cli.js',
      `${name}.json`,
      '--output',
      `${name}.ts`
    ],
    head: (name) => `
      import createClient from 'openapi-fetch'
      import type { paths } from './${name}.js'
      ${START}
      const headers = { authorization: \`ApiKey \${key}\` }
      const client = createClient<paths>({ baseUrl, headers })
      type Query = NonNullable<paths['/v1/messages']['get']['parameters']['query']>
      const setPrimary = (integrationId: string, idempotencyKey: string) =>
        client.POST('/v1/integrations/{integrationId}/set-primary', {
          params: { path: { integrationId }, header: { 'idempotency-key': idempotencyKey } }
        })
      const list = (query: Query) => client.GET('/v1/messages', { params: { query } })
      const retrieve = (workflowId: string, stepId: string) =>
        client.GET('/v2/workflows/{workflowId}/steps/{stepId}', {
          params: { path: { workflowId, stepId } }
        })`,
    options: { exactOptionalPropertyTypes: true }
  },
  // This generator's files don't compile with `exactOptionalPropertyTypes`, so `options` is empty.
  '@hey-api/openapi-ts with its fetch client': {
    command: (name) => {
      const plugins = ['@hey-api/client-fetch', '@hey-api/typescript', '@hey-api/sdk']
      const files = ['--input', `${name}.json`, '--output', name, '--no-log-file', '--silent']
      return ['node_modules/@hey-api/openapi-ts/bin/run.js', ...files, '--plugins', ...plugins]
    },
    head: (name) => `
      import { createClient, createConfig } from './${name}/client/index.js'
      import * as api from './${name}/index.js'
      ${START}
      const client = createClient(createConfig({ baseUrl, auth: \`ApiKey \${key}\` }))
      type Query = NonNullable<api.ListMessagesData['query']>
      const setPrimary = (integrationId: string, idempotencyKey: string) =>
        api.setIntegrationAsPrimary({
          client,
          path: { integrationId },
          headers: { 'idempotency-key': idempotencyKey }
        })
      const list = (query: Query) => api.listMessages({ client, query })
      const retrieve = (workflowId: string, stepId: string) =>
        api.retrieveWorkflowStep({ client, path: { workflowId, stepId } })`,
    options: {}
  }
} satisfies Record<string, Generator>

/** The parts of the program that differ between the profiles. */
const PROFILE_FACTS = {
  document: { envelope: '', invalid: '{ limit: 0 }', mistake: "{ channel: 'fax' }" },
  // In the profile `live`, any string is a valid channel, so the deliberate type error is in
  // `limit`.
  live: { envelope: '.data', invalid: '{ limit: 1001 }', mistake: "{ limit: 'ten' }" }
}

/** Returns a program's second part. It calls the client and prints the responses as JSON. */
function programFor(name: 'document' | 'live'): string {
  const { envelope, invalid, mistake } = PROFILE_FACTS[name]
  return `
    const primary = await setPrimary('${MAILGUN}', 'once')
    const page = await list(${JSON.stringify(QUERY)})
    const retrieved = await retrieve('order-shipped', 'email-step')
    if (!primary.data || !page.data || !retrieved.data) throw new Error('a response without data')
    const integration = primary.data${envelope}
    const step = retrieved.data${envelope}
    const messages = page.data.data
    const errors = [
      await setPrimary('${NOWHERE}', 'none'),
      await list(${invalid}),
      await retrieve('none', 'email-step')
    ].map(({ error, response }) => [response.status, error?.statusCode, error?.message])
    console.log(JSON.stringify({ integration, page: page.data, step, errors }))

    export const channel: 'in_app' | 'email' | 'sms' | 'chat' | 'push' = integration.channel
    export const isPrimary: boolean = integration.primary
    export const subject: string | undefined = messages[0]?.subject
    const uiProperties = step.controls.uiSchema?.properties
    export const component: string | undefined = uiProperties?.['subject']?.component

    export function mistakes(): unknown[] {
      return [
        // @ts-expect-error unknown value
        list(${mistake}),
        // @ts-expect-error messages[0] may be undefined
        messages[0].subject,
        // @ts-expect-error unknown field
        integration.primry,
        // @ts-expect-error a boolean has no length
        integration.primary.length,
        // @ts-expect-error issues may be undefined
        step.issues.controls
      ]
    }`
}

const COMPILER_OPTIONS = {
  target: 'es2022',
  module: 'nodenext',
  lib: ['es2022', 'dom', 'dom.iterable'],
  types: [],
  outDir: 'built',
  strict: true,
  noUncheckedIndexedAccess: true,
  skipLibCheck: false
}

/**
 * In `folder`, generates a client from each document, writes a program for each profile, and
 * compiles the programs to `built/use-document.js` and `built/use-live.js`. Returns the compiler's
 * output.
 */
export async function buildClients(
  toolsFolder: string,
  folder: string,
  { command, head, options }: Generator,
  documents: Documents
): Promise<string> {
  mkdirSync(folder, { recursive: true })
  symlinkSync(join(toolsFolder, 'node_modules'), join(folder, 'node_modules'))
  const files = {
    'package.json': { type: 'module' },
    'tsconfig.json': { compilerOptions: { ...COMPILER_OPTIONS, ...options, rootDir: '.' } },
    ...Object.fromEntries(
      Object.entries(documents).map(([name, document]) => [`${name}.json`, document])
    )
  }
  for (const [name, content] of Object.entries(files))
    writeFileSync(join(folder, name), JSON.stringify(content))
  for (const name of ['document', 'live'] as const) {
    writeFileSync(join(folder, `use-${name}.ts`), head(name) + programFor(name))
  }
  await Promise.all(
    Object.keys(documents).map((name) => run(process.execPath, command(name), { cwd: folder }))
  )
  const compiled = run(process.execPath, ['node_modules/typescript/bin/tsc', '--pretty', 'false'], {
    cwd: folder
  })
  const { stdout } = await compiled.catch((error: { stdout: string }) => error)
  return stdout
}

/** Runs the program of a profile against a server, and returns what it printed. */
export async function useClient(
  folder: string,
  name: 'document' | 'live',
  url: string,
  key: string
): Promise<object> {
  const { stdout } = await run(process.execPath, [join(folder, `built/use-${name}.js`), url, key])
  return JSON.parse(stdout)
}
