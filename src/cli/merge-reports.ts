import { resolve } from 'node:path'
import { type Command, Option } from 'commander'
import type { Coverage } from '../client/control-api.js'
import type { Report } from '../client/report.js'
import { StartError } from '../domain/errors.js'
import { requireWritable, rethrowWriteError } from '../platform/output-file.js'
import { reportTemplate, writeReport } from '../platform/report-template.js'
import { coverageMarkdown, coverageShortfall, coverageText, minOption } from './coverage.js'
import { mergeReports } from './merged-report.js'
import { addOptions, withoutVariable } from './options.js'
import { readReports } from './report-file.js'
import { runMarkdown } from './summary.js'
import { printOutcome, write } from './terminal.js'

/** The flags of the command. An empty file name means that no file is written. */
interface MergeFlags {
  report: string
  summary: string
  min?: number
  all?: true
  json?: true
}

export function addCommands(root: Command): void {
  const summary = 'append a Markdown summary to this file: failures, hints and coverage'
  const command = root
    .command('merge-reports')
    .helpGroup('Test against it:')
    .description('merge the reports of several runs, such as shards, and print their coverage')
    .argument('<reports...>', 'the HTML files that exec --report wrote')
    .addHelpText('after', EXPLANATION)
  addOptions(command, [
    new Option('--report <file>', 'write an HTML report of all tests to this file').default(
      '',
      'none'
    ),
    new Option('--summary <file>', summary).default('', 'none'),
    minOption(),
    withoutVariable(new Option('--all', 'print the whole coverage as Markdown')),
    new Option('--json', 'print the whole coverage as JSON')
  ]).action((files: string[], flags: MergeFlags, self: Command) => {
    const coverage = merge(files, flags, self)
    printOutcome(coverage, flags.json, flags.all ? coverageMarkdown : shortText, 2)
    const shortfall = coverageShortfall(coverage, flags.min)
    if (shortfall) throw new StartError(shortfall)
  })
}

const EXPLANATION = `
All reports must be from this version of notification-mock, and from servers with the same profile
and assumptions.

Exit codes:
  0  the reports were merged, even if they contain failed tests
  1  the coverage is below --min
  2  the command line is wrong, the reports can't be merged, or a file can't be written

Example:
  notification-mock merge-reports shards/*.html --report run.html --min 80`

const shortText = (coverage: Coverage) => coverageText(coverage, 'use --all to list everything')

/**
 * Merges the reports, writes the files, and returns the coverage. Ends the command with a usage
 * error if a step throws `StartError`.
 */
function merge(
  files: readonly string[],
  { report: file, summary }: MergeFlags,
  command: Command
): Coverage {
  try {
    checkOutputs(files, file, summary)
    const report = mergeReports(readReports(files))
    if (file !== '') writeHtml(file, report)
    if (summary !== '') write(summary, runMarkdown(report), 'a')
    return report.coverage
  } catch (error) {
    if (!(error instanceof StartError)) throw error
    return command.error(`error: ${error.message}`)
  }
}

function writeHtml(file: string, report: Report): void {
  try {
    writeReport(file, report)
  } catch (error) {
    rethrowWriteError(file)(error)
  }
}

/** Throws `StartError` if a file can't be written, or would replace one of the merged reports. */
function checkOutputs(files: readonly string[], file: string, summary: string): void {
  if (summary !== '') requireWritable(summary, 'append')
  if (file === '') return
  if (files.some((name) => resolve(name) === resolve(file))) {
    throw new StartError(
      `--report would replace ${file}, one of the reports to merge: use another name`
    )
  }
  requireWritable(file)
  reportTemplate()
}
