/**
 * Writes the generated parts of docs/*.md between their markers. Run it with `npm run docs`. With
 * `--check`, it writes nothing and exits 1 if a part is stale.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import type { Command, Option } from 'commander'
import { commandLine } from '../src/cli/program.js'
import { isDocumented, planOf } from '../src/coverage/items.js'
import {
  ASSUMPTION_IDS,
  type AssumptionId,
  assume,
  describeAssumption
} from '../src/domain/assumptions.js'
import { controlDocument } from '../src/openapi/documents.js'
import { OPERATIONS } from '../src/operations.js'
import type { Basis } from '../src/remote/conformance/case.js'
import { CASES } from '../src/remote/conformance/cases/index.js'
import { FOLDERS, readResult, rowsOf } from '../test/mutation/report.js'
import { PLANTED_FAULTS } from '../test/remote/conformance/planted-faults/index.js'
import { apiReference } from './api-reference.js'
import { supportTables } from './support-matrix.js'

const GENERATED: Record<string, { file: string; text: () => string | Promise<string> }> = {
  api: { file: 'docs/api.md', text: apiReference },
  assumptions: { file: 'docs/assumptions.md', text: assumptionTable },
  coverage: { file: 'docs/measure-coverage.md', text: coverageTable },
  commands: { file: 'docs/commands.md', text: commandTables },
  'control-routes': { file: 'docs/control-routes.md', text: controlRouteTable },
  'conformance-cases': { file: 'docs/conformance-cases.md', text: caseTable },
  'conformance-mutants': { file: 'docs/contributing/planted-faults.md', text: plantedFaultTable },
  support: { file: 'docs/contributing/support-matrix.md', text: supportTables },
  'mutation-scores': { file: 'docs/contributing/mutation-results.md', text: scoreTable }
}

const check = process.argv.includes('--check')
for (const [name, { file, text }] of Object.entries(GENERATED)) {
  const before = readFileSync(file, 'utf8')
  const marked = new RegExp(`(<!-- generated: ${name} -->\n).*?(<!-- end of generated -->)`, 's')
  if (!marked.test(before)) throw new Error(`${file} has no markers for ${name}`)
  const generated = await text()
  const after = before.replace(marked, (_whole, open, close) => `${open}${generated}${close}`)
  if (after === before) continue
  if (check) {
    console.error(`${file}: the part ${name} is stale: run npm run docs`)
    process.exitCode = 1
  } else {
    writeFileSync(file, after)
    console.log(`${file}: ${name} written`)
  }
}

function assumptionTable(): string {
  const rows = ASSUMPTION_IDS.map(
    (id) => `| \`${id}\` | ${cell(id, 'document')} | ${cell(id, 'live')} |\n`
  )
  return `| assumption | \`document\` | \`live\` |\n|---|---|---|\n${rows.join('')}`
}

function coverageTable(): string {
  const assumptions = assume('document')
  const rows = OPERATIONS.map((operation) => {
    const items = planOf(operation).filter((item) => isDocumented(item, assumptions))
    const names = (isStatus: boolean) =>
      items
        .filter(({ kind }) => (kind === 'status' || kind === 'operation') === isStatus)
        .map(({ name }) => name)
    return `| \`${operation.id}\` | ${names(true).join(', ')} | ${names(false).join('; ')} |\n`
  })
  const head = '| operation | statuses | parameters, values and headers |\n|---|---|---|\n'
  return `${head}${rows.join('')}`
}

/** Returns every control route with its summary. */
async function controlRouteTable(): Promise<string> {
  const { paths } = (await controlDocument()) as {
    paths: Record<string, Record<string, { summary: string }>>
  }
  const rows = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { summary }]) => {
      const route = `${method.toUpperCase()} ${path}`
      return `| \`${route}\` | ${escaped(summary)} |\n`
    })
  )
  return `| route | purpose |\n|---|---|\n${rows.join('')}`
}

function caseTable(): string {
  const rows = CASES.map(({ id, rule, basis }) => {
    const text =
      'assumption' in basis ? "The server's behavior matches one of the assumption's values." : rule
    return `| \`${id}\` | ${escaped(text)} | ${escaped(basisCell(basis))} |\n`
  })
  return `${CASES.length} cases.\n\n| case | rule | source |\n|---|---|---|\n${rows.join('')}`
}

function basisCell(basis: Basis): string {
  if ('apiReference' in basis) return basis.apiReference
  return 'assumption' in basis ? `[\`${basis.assumption}\`](assumptions.md)` : `*${basis.behavior}*`
}

function plantedFaultTable(): string {
  const rows = PLANTED_FAULTS.map(
    ({ name, caughtBy }) => `| ${escaped(name)} | \`${caughtBy}\` |\n`
  )
  const count = `${PLANTED_FAULTS.length} planted faults.`
  return `${count}\n\n| planted fault | detected by |\n|---|---|\n${rows.join('')}`
}

function scoreTable(): string {
  const scores = rowsOf(readResult())
  const rows = scores.map(({ name, isFolder, counts, score }) => {
    const { killed, timeout, survived, uncovered, ignored } = counts
    const bold = (text: string) => (isFolder ? `**${text}**` : text)
    const cells = [killed, timeout, survived, uncovered, ignored, `${score.toFixed(1)} %`]
    return `| ${bold(`\`${name}\``)} | ${cells.map((value) => bold(`${value}`)).join(' | ')} |\n`
  })
  const files = FOLDERS.flatMap((folder) =>
    readdirSync(`src/${folder}`).map((name) => `${folder}/${name}`)
  )
  const missing = files.filter((file) => !scores.some(({ name }) => name === file))
  const head =
    '| file | killed | timeout | survived | not run | ignored | score |\n' +
    '|---|---:|---:|---:|---:|---:|---:|\n'
  const note = missing.length > 0 ? `\nNot measured yet: ${missing.join(', ')}.\n` : ''
  return `${head}${rows.join('')}${note}`
}

function cell(id: AssumptionId, profile: 'document' | 'live'): string {
  const { [profile]: value, values } = describeAssumption(id)
  return `**${value}**: ${(values as Record<string, string>)[value]?.replaceAll('|', '\\|')}`
}

/**
 * Returns a section for each command, with a table of the command's flags. If a command has all
 * flags of `serve`, a sentence after the table mentions them instead.
 */
async function commandTables(): Promise<string> {
  const root = await commandLine()
  const help = root.createHelp()
  const [serve, ...others] = help
    .visibleCommands(root)
    .filter((command) => command.name() !== 'help')
  const commands = others.flatMap((command) =>
    command.commands.length > 0 ? [...command.commands] : [command]
  )
  if (!serve) throw new Error('there are no commands')
  const serverFlags = serve.options.filter(({ long }) => long !== '--json')
  return [
    commandSection(serve, serve.options, ''),
    ...commands.map((command) => {
      const isServer = serverFlags.every(({ long }) =>
        command.options.some((option) => option.long === long)
      )
      const ownFlags = command.options.filter(
        ({ long }) => !isServer || !serverFlags.some((flag) => flag.long === long)
      )
      return commandSection(
        command,
        ownFlags,
        isServer ? `\nAlso takes the flags of \`serve\`${defaultsOf(command, serve)}.\n` : ''
      )
    })
  ].join('\n')
}

function commandSection(command: Command, flags: readonly Option[], more: string): string {
  const name = `${command.parent?.parent ? `${command.parent.name()} ` : ''}${command.name()}`
  const parameters = command.registeredArguments.map(
    (argument) => `- \`${argument.name()}\`: ${escaped(argument.description)}\n`
  )
  const usage = `notification-mock ${name} ${command.usage()}`
  const text = `### ${name}\n\n\`${usage}\`: ${escaped(command.description())}.\n`
  const table = `\n| flag | description | default |\n|---|---|---|\n${flags.map(flagRow).join('')}`
  return `${text}${parameters.length > 0 ? `\n${parameters.join('')}` : ''}${table}${more}`
}

/** Returns the end of a sentence: the command's defaults that differ from `serve`'s. */
function defaultsOf(command: Command, serve: Command): string {
  const differing = command.options.filter(({ long, defaultValue }) =>
    serve.options.some(
      (option) =>
        option.long === long &&
        ['string', 'number'].includes(typeof defaultValue) &&
        option.defaultValue !== defaultValue
    )
  )
  const defaults = differing.map(({ long, defaultValue }) => `\`${long}\` ${defaultValue}`)
  return defaults.length > 0 ? `, with other defaults: ${defaults.join(', ')}` : ''
}

function flagRow({
  flags,
  description,
  required,
  mandatory,
  defaultValue,
  defaultValueDescription
}: Option): string {
  let shownDefault = ''
  if (mandatory) shownDefault = 'required'
  else if (required) shownDefault = `${defaultValueDescription ?? defaultValue}`
  return `| \`${flags}\` | ${escaped(description)} | ${escaped(shownDefault)} |\n`
}

function escaped(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('<', '&lt;')
}
