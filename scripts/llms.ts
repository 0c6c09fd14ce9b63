/**
 * Writes llms.txt, a summary of this package for agents: what it serves, its commands and its manual, taken from the code
 * and the documents. The server serves it at `/llms.txt`, and the manual at the addresses that it links to.
 *
 *     tsx scripts/llms.ts            write it
 *     tsx scripts/llms.ts --check    write nothing; exit 1 when it is stale
 */
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { assume } from '../src/domain/assumptions.js'
import { controlDocument, openApiDocument } from '../src/openapi/documents.js'

interface Described {
  paths: Record<string, Record<string, { summary: string }>>
}

const root = join(import.meta.dirname, '..')
const file = join(root, 'llms.txt')
const { description, version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const operations = await openApiDocument(assume('document'))
const control = (await controlDocument()) as Described

const text = `# notification-mock

> ${description}

npm's registry does not have the package: \`npm ci && npm pack\` in a clone of its repository makes a file, and
\`npm i -D ./notification-mock-${version}.tgz\` in the project installs it. Then \`npx notification-mock\` serves a small shop at
http://127.0.0.1:4210 and prints its API keys. \`development-key\` is the key of the environment Development. Each request
carries \`Authorization: ApiKey <key>\`. The header \`x-mock-reason\` of an answer says why it was refused, or why a page is
empty. What is linked below is in \`node_modules/notification-mock/\`; \`SKILL.md\` there is the shortest way in.

Rules of thumb:

- Give each test an environment of its own: \`POST /_mock/environments\` with \`{"from": "Development"}\` returns its key.
- Never wait by sleeping: \`POST /_mock/requests/verify\` with \`within\` waits for the request.
- Only these three operations of the service exist here. Other paths under \`/v1\` and \`/v2\` are answered with 501.

## A test

${samples()}

## Operations

${routes(operations as unknown as Described)}

[Their OpenAPI document](/openapi.json)

## Control routes

Those about one environment take its key; those about all environments are open on loopback, else they take
\`Authorization: Bearer <admin token>\`.

${routes(control)}

[Their OpenAPI document](/_mock/openapi.json)

## Command

\`\`\`text
${execFileSync(process.execPath, ['--import', 'tsx', 'src/cli/index.ts', '--help'], { cwd: root, encoding: 'utf8' }).trim()}
\`\`\`

## Manual

${manual()}
`

if (!process.argv.includes('--check')) writeFileSync(file, text)
else if (!existsSync(file) || readFileSync(file, 'utf8') !== text) {
  console.error('llms.txt is stale: run npm run docs')
  process.exitCode = 1
}

/** The first file of the recipe of each runner, which a test runs. */
function samples(): string {
  const recipes = readFileSync(join(root, 'docs/write-tests.md'), 'utf8').split(/^## /m)
  return ['Vitest', 'Playwright Test', 'Jest', 'node:test']
    .map((runner) => {
      const recipe = recipes.find((each) => each.startsWith(`${runner}\n`)) ?? ''
      const [source] = /^```\w+\n.*?^```$/ms.exec(recipe) ?? []
      if (source === undefined) throw new Error(`docs/write-tests.md has no file for ${runner}`)
      return `${runner}:\n\n${source}`
    })
    .join('\n\n')
}

function routes({ paths }: Described): string {
  return Object.entries(paths)
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(
        ([method, { summary }]) => `- \`${method.toUpperCase()} ${path}\`: ${summary}`
      )
    )
    .join('\n')
}

/** Each page of the manual with its title and the first sentence under it. */
function manual(): string {
  const pages = readdirSync(join(root, 'docs')).filter(
    (name) => name.endsWith('.md') && name !== 'README.md'
  )
  return pages
    .map((name) => {
      const [, title, rest = ''] =
        /^# ([^\n]+)\n(.*)/ms.exec(readFileSync(join(root, 'docs', name), 'utf8')) ?? []
      const [sentence] = /^[A-Z`].*?[.:](?=\s)/ms.exec(rest) ?? ['']
      return `- [${title}](docs/${name}): ${sentence
        .replace(/\s+/g, ' ')
        .replace(/\[([^\]]+)\]\([^)]+\)/g, '$1')
        .replace(/:$/, '.')}`
    })
    .join('\n')
}
