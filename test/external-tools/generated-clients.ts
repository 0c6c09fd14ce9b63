import { execFile } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { MAILGUN } from '../support/control.js'

const run = promisify(execFile)

export const NOWHERE = '66f1c2a47c9b1a0012adffff'
/** A page that is asked for with a list of two, one of them with a comma. */
export const QUERY = {
  channel: 'email',
  subscriberId: 'user-ada',
  transactionId: ['order-4711', 'a,b'],
  limit: 2
}

/** The documents by the names of the files that are generated from them. */
export type Documents = Record<'document' | 'live' | 'control', object>

/** What makes a client of a document, and the beginning of a program that uses it. */
interface Generator {
  /** The arguments after `node`, in a folder with `node_modules`. */
  command(name: string): string[]
  /** Declares `Query`, `setPrimary`, `list` and `retrieve`. */
  head(name: string): string
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
      const client = createClient<paths>({ baseUrl, headers: { authorization: \`ApiKey \${key}\` } })
      type Query = NonNullable<paths['/v1/messages']['get']['parameters']['query']>
      const setPrimary = (integrationId: string, idempotencyKey: string) =>
        client.POST('/v1/integrations/{integrationId}/set-primary', {
          params: { path: { integrationId }, header: { 'idempotency-key': idempotencyKey } }
        })
      const list = (query: Query) => client.GET('/v1/messages', { params: { query } })
      const retrieve = (workflowId: string, stepId: string) =>
        client.GET('/v2/workflows/{workflowId}/steps/{stepId}', { params: { path: { workflowId, stepId } } })`,
    options: { exactOptionalPropertyTypes: true }
  },
  // What it brings along for any document does not compile with \`exactOptionalPropertyTypes\`.
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
        api.setIntegrationAsPrimary({ client, path: { integrationId }, headers: { 'idempotency-key': idempotencyKey } })
      const list = (query: Query) => api.listMessages({ client, query })
      const retrieve = (workflowId: string, stepId: string) =>
        api.retrieveWorkflowStep({ client, path: { workflowId, stepId } })`,
    options: {}
  }
} satisfies Record<string, Generator>

/** What a program does with its client, in the profile of that name. It prints what it has read, as JSON. */
function useOf(name: 'document' | 'live'): string {
  const { envelope, refused, mistake } = {
    document: { envelope: '', refused: '{ limit: 0 }', mistake: "{ channel: 'fax' }" },
    // There a channel may be any text.
    live: { envelope: '.data', refused: '{ limit: 1001 }', mistake: "{ limit: 'ten' }" }
  }[name]
  return `
    const primary = await setPrimary('${MAILGUN}', 'once')
    const page = await list(${JSON.stringify(QUERY)})
    const found = await retrieve('order-shipped', 'email-step')
    if (!primary.data || !page.data || !found.data) throw new Error('an answer without data')
    const integration = primary.data${envelope}
    const step = found.data${envelope}
    const messages = page.data.data
    const refusals = [
      await setPrimary('${NOWHERE}', 'none'),
      await list(${refused}),
      await retrieve('none', 'email-step')
    ].map(({ error, response }) => [response.status, error?.statusCode, error?.message])
    console.log(JSON.stringify({ integration, page: page.data, step, refusals }))

    export const channel: 'in_app' | 'email' | 'sms' | 'chat' | 'push' = integration.channel
    export const isPrimary: boolean = integration.primary
    export const subject: string | undefined = messages[0]?.subject
    export const component: string | undefined = step.controls.uiSchema?.properties?.['subject']?.component

    export function mistakes(): unknown[] {
      return [
        // @ts-expect-error no such value can be asked for
        list(${mistake}),
        // @ts-expect-error a page may be empty
        messages[0].subject,
        // @ts-expect-error there is no such field
        integration.primry,
        // @ts-expect-error it is a boolean
        integration.primary.length,
        // @ts-expect-error it may be left out
        step.issues.controls
      ]
    }`
}

const COMPILER_OPTIONS = {
  ...{
    target: 'es2022',
    module: 'nodenext',
    lib: ['es2022', 'dom', 'dom.iterable'],
    types: [],
    outDir: 'built'
  },
  ...{ strict: true, noUncheckedIndexedAccess: true, skipLibCheck: false }
}

/**
 * Generates a client of each document in a folder, and programs that use those of the two profiles; compiles all, and
 * returns what the compiler says. The programs are then at \`built/use-document.js\` and \`built/use-live.js\`.
 */
export async function buildClients(
  judges: string,
  folder: string,
  { command, head, options }: Generator,
  documents: Documents
): Promise<string> {
  mkdirSync(folder, { recursive: true })
  symlinkSync(join(judges, 'node_modules'), join(folder, 'node_modules'))
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
    writeFileSync(join(folder, `use-${name}.ts`), head(name) + useOf(name))
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

/** What a program of a folder has read from the server at this address. */
export async function useClient(
  folder: string,
  name: 'document' | 'live',
  url: string,
  key: string
): Promise<object> {
  const { stdout } = await run(process.execPath, [join(folder, `built/use-${name}.js`), url, key])
  return JSON.parse(stdout)
}
