import { Command, CommanderError, Help } from 'commander'
import { StartError } from '../core/errors.js'
import { VERSION } from '../core/package.js'
import { writeToStderr } from '../core/stderr.js'
import { SeedError } from '../seeds/errors.js'
import { addCompare } from './compare.js'
import { addConformance } from './conformance.js'
import { addCoverage } from './coverage.js'
import { addExec, EXEC_PREFIX } from './exec.js'
import { addHealthcheck } from './healthcheck.js'
import { addOpenapi } from './openapi.js'
import { checkVariables, describeOption, variableOf } from './options.js'
import { addRecord } from './record.js'
import { addSeed } from './seed.js'
import { addServe } from './serve.js'
import { addStart } from './start.js'
import { addStatus, addStop } from './status.js'
import { addWait } from './wait.js'

const FAILED = 1
const WRONG_USAGE = 2

/** Runs a command line. Sets the exit code: 0 done, 1 it could not be done, 2 the command line is wrong. */
export async function run(argv: string[]): Promise<void> {
  process.stdout.on('error', reportOutput)
  const words = argv.slice(2)
  try {
    const isForAll = words.some((word) => ['-h', '--help', '-V', '--version'].includes(word))
    // Without a command, it is `serve`.
    const isServe = !isForAll && (words[0] ?? '-').startsWith('-')
    await commandLine().parseAsync(isServe ? ['serve', ...words] : words, { from: 'user' })
  } catch (error) {
    process.exitCode = report(error, words[0] ?? '')
  }
}

/** Returns the command with its subcommands, for one run. */
export function commandLine(): Command {
  const root = new Command('notification-mock')
    .usage('[command] [options]')
    .description('A stand-in for a notification service: three of its operations on real state, from one command.')
    .version(VERSION, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .exitOverride()
    // So that exec leaves the flags of its command alone.
    .enablePositionalOptions()
    // `report` prints errors, in one line each.
    .configureOutput({ outputError: () => {} })
    .configureHelp({ optionDescription: describeOption })
    .addHelpText('after', EXAMPLES)
  root.commandsGroup('Serve:')
  const serve = addServe(root)
  addStart(root)
  addStatus(root)
  addStop(root)
  root.commandsGroup('Test against it:')
  addExec(root)
  addWait(root)
  addCoverage(root)
  addConformance(root)
  root.commandsGroup('Make data:')
  const seed = addSeed(root)
  root.commandsGroup('Against the real service:')
  addRecord(root)
  addCompare(root)
  root.commandsGroup('Ask about it:')
  addOpenapi(root)
  addHealthcheck(root)
  root.helpCommand('help [command]', 'print the help of a command')
  // `notification-mock --help` is typed most, so it lists the flags of `serve` too.
  root.configureHelp({
    optionDescription: describeOption,
    visibleOptions: (command) => [...serve.options, ...new Help().visibleOptions(command)]
  })
  root.hook('preAction', (_, command) => {
    checkVariables(command, [root, ...root.commands, ...seed.commands])
  })
  return root
}

const EXAMPLES = `
Examples:
  $ notification-mock                                 a small shop, on http://127.0.0.1:4210
  $ notification-mock --seed shop.yaml --port 0       your own seed, on a free port
  $ notification-mock --data mock.db --profile live   data that is kept, answers as the deployed service gives them
  $ notification-mock exec -- node --test             your tests, against a server of their own
  $ notification-mock seed check shop.yaml            every issue in a seed, with its line and column
  $ NOTIFICATION_MOCK_PORT=8080 notification-mock     a variable instead of a flag; a flag wins over its variable

Exit codes: 0 done, 1 it could not be done, 2 the command line is wrong.`

/** Prints what went wrong, without a stack for the user's own errors; returns the exit code. `word` is the first one. */
function report(error: unknown, word: string): number {
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return 0
    if (error.code !== 'commander.help') print(usageMessage(inOneLine(error.message), word))
    return WRONG_USAGE
  }
  if (error instanceof SeedError) print(error.message)
  else if (error instanceof StartError) print(`error: ${error.message}`)
  else print(error instanceof Error ? (error.stack ?? error.message) : String(error))
  return FAILED
}

/** The output of exec is that of its command, so each line of ours says that it is. */
function usageMessage(message: string, word: string): string {
  const [, long] = /^error: required option '(--[\w-]+)/.exec(message) ?? []
  const remedy = long ? `; give it, or set ${variableOf({ long })}` : ''
  const command = commandLine().commands.some((each) => each.name() === word) ? `${word} ` : ''
  const text = `${message}${remedy} (see notification-mock ${command}--help)`
  return word === 'exec' ? `${EXEC_PREFIX}${text.replace(/^error: /, '')}` : text
}

/** A reader that has enough, such as `head`, is no error. A server whose output can't be written goes on. */
function reportOutput({ code = '' }: NodeJS.ErrnoException): void {
  if (code === 'EPIPE') return
  print(`error: can't write to stdout: ${code === 'ENOSPC' ? 'the disk is full; free some space' : code}`)
  process.exitCode = FAILED
}

function inOneLine(message: string): string {
  return message.replace(/\.?\n\(Did you mean (.*)\?\)$/, '; did you mean $1?').replaceAll('\n', ' ')
}

function print(text: string): void {
  writeToStderr(`${text}\n`)
}
