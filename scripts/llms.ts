/**
 * Writes llms.txt, a summary of this package for coding agents, generated from the code and the
 * docs. The server serves llms.txt and the pages that it links to.
 *
 *     tsx scripts/llms.ts            write it
 *     tsx scripts/llms.ts --check    write nothing; exit 1 if it is stale
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

const help = execFileSync(process.execPath, ['--import', 'tsx', 'src/cli/index.ts', '--help'], {
  cwd: root,
  encoding: 'utf8'
})

const text = `# notification-mock

> ${description}

The package is not on npm's registry. Run \`npm ci && npm pack\` in a clone of its repository, then
\`npm i -D ./notification-mock-${version}.tgz\` in the project. \`npx notification-mock\` serves the
sample data of a small shop at http://127.0.0.1:4210 and prints the API keys; \`development-key\` is
the key of the environment Development. Send \`Authorization: ApiKey <key>\` with every request. The
response header \`x-mock-reason\` says why a request was rejected or why a page is empty. The pages
linked below are in \`node_modules/notification-mock/\`; start with \`SKILL.md\` there.

Rules of thumb:

- Give each test its own environment: \`POST /_mock/environments\` with
  \`{"from": "Development"}\` returns its key.
- Don't sleep before you verify a request: \`POST /_mock/requests/verify\` with \`within\` waits for
  it.
- Only three operations are mocked. Other paths get 404 unless a stub responds: add one with
  \`POST /_mock/stubs\`, or start with \`--stubs novu-client\` or \`--fallback <url>\`.

## A test

${samples()}

## Operations

${routes(operations as unknown as Described)}

[OpenAPI document of the operations](/openapi.json)

## Control routes

Routes about one environment require that environment's API key. Routes about the server require no
key on loopback. From other machines, they require \`Authorization: Bearer <admin token>\`.

${routes(control)}

[OpenAPI document of the control routes](/_mock/openapi.json)

## Command

\`\`\`text
${help.trim()}
\`\`\`

## Manual

${manual()}
`

if (!process.argv.includes('--check')) writeFileSync(file, text)
else if (!existsSync(file) || readFileSync(file, 'utf8') !== text) {
  console.error('llms.txt is stale: run npm run docs')
  process.exitCode = 1
}

/**
 * Returns the example in each runner's recipe: the first code block that imports the package. A
 * test checks that these examples work.
 */
function samples(): string {
  const recipes = readFileSync(join(root, 'docs/write-tests.md'), 'utf8').split(/^## /m)
  return ['Vitest', 'Playwright Test', 'Jest', 'node:test']
    .map((runner) => {
      const recipe = recipes.find((section) => section.startsWith(`${runner}\n`)) ?? ''
      const blocks = recipe.match(/^```\w+\n.*?^```$/gms) ?? []
      const source = blocks.find((block) => block.includes("'notification-mock"))
      if (source === undefined)
        throw new Error(`docs/write-tests.md has no code block for ${runner}`)
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

/** Returns a line for each page of the manual, with the page's title and first sentence. */
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
