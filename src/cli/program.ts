import { Command, CommanderError, Help, type Option } from 'commander'
import { StartError } from '../domain/errors.js'
import { VERSION } from '../platform/package.js'
import { writeToStderr } from '../platform/stderr.js'
import { describeOption, variableOf } from './options.js'
import { EXEC_PREFIX, messageOf } from './terminal.js'

const background = () => import('./background.js')
const reach = () => import('./reach.js')

/** The module of each command. Loading only the requested command makes startup faster. */
const MODULES: Record<string, () => Promise<{ addCommands(root: Command): void }>> = {
  serve: () => import('./serve.js'),
  start: background,
  'serve-in-background': background,
  status: background,
  stop: background,
  exec: () => import('./exec.js'),
  'merge-reports': () => import('./merge-reports.js'),
  open: () => import('./open.js'),
  wait: reach,
  coverage: () => import('./coverage.js'),
  conformance: () => import('./conformance.js'),
  seed: () => import('./seed.js'),
  record: () => import('./record.js'),
  compare: () => import('./compare.js'),
  openapi: () => import('./openapi.js'),
  healthcheck: reach
}

/**
 * Runs a command line. Prints errors and sets the exit code: 1 for a failure, 2 for a usage error.
 */
export async function run(
  argv: string[],
  print: (text: string) => void = writeToStderr
): Promise<void> {
  process.stdout.on('error', ({ code = '' }: NodeJS.ErrnoException) => {
    // The reader, such as `head`, stopped reading. Ignore this, so that a server keeps running.
    if (code === 'EPIPE') return
    const problem = code === 'ENOSPC' ? 'the disk is full; free some space' : code
    writeToStderr(`error: can't write to stdout: ${problem}\n`)
    process.exitCode = 1
  })
  const commandArguments = argv.slice(2)
  const isGlobalFlag = commandArguments.some((word) =>
    ['-h', '--help', '-V', '--version'].includes(word)
  )
  const hasNoCommand = !isGlobalFlag && (commandArguments[0] ?? '-').startsWith('-')
  const words = hasNoCommand ? ['serve', ...commandArguments] : commandArguments
  const [name = ''] = words
  const root = await commandLine(name)
  try {
    await root.parseAsync(words, { from: 'user' })
  } catch (error) {
    process.exitCode = 1
    if (!(error instanceof CommanderError)) {
      return print(`${error instanceof StartError ? 'error: ' : ''}${messageOf(error)}\n`)
    }
    process.exitCode = error.exitCode === 0 ? 0 : 2
    if (error.exitCode !== 0 && error.code !== 'commander.help')
      print(usageMessage(error.message, findCommand(root, words)))
  }
}

/**
 * Returns the program with only the named subcommand, or with all subcommands if the name is
 * unknown.
 */
export async function commandLine(name = ''): Promise<Command> {
  const root = new Command('notification-mock')
    .usage('[command] [options]')
    .description("A mock server for three operations of Novu's notification API, with real state.")
    .version(VERSION, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .exitOverride()
    // Lets `exec` pass flags on to the command that it runs.
    .enablePositionalOptions()
    // Keep Commander from printing errors: `run` prints each error on one line.
    .configureOutput({ outputError: () => {} })
    .configureHelp({ optionDescription: describeOption, visibleOptions })
    .addHelpText('after', EXAMPLES)
  const loaders = Object.hasOwn(MODULES, name) ? [MODULES[name]] : new Set(Object.values(MODULES))
  for (const load of loaders) (await load?.())?.addCommands(root)
  root.commandsGroup('Inspect it:').helpCommand('help [command]', 'print help for a command')
  return root
}

/**
 * Adds the flags of `serve` to the help of `notification-mock`, because `serve` is the default
 * command.
 */
function visibleOptions(command: Command): Option[] {
  const [serve] = command.parent ? [] : command.commands
  return [...(serve?.options ?? []), ...new Help().visibleOptions(command)]
}

const EXAMPLES = `
Examples:
  $ notification-mock                                 serve a small shop on http://127.0.0.1:4210
  $ notification-mock --seed shop.yaml --port 0       serve your seed on a free port
  $ notification-mock --data mock.db --profile live   keep the data, behave like production
  $ notification-mock exec -- node --test             run your tests against a new server
  $ notification-mock seed check shop.yaml            list all issues in a seed
  $ NOTIFICATION_MOCK_PORT=8080 notification-mock     use a variable instead of a flag

A flag overrides its variable. Exit codes: 0 success, 1 failure, 2 usage error.`

/** Returns the command or nested subcommand that `words` starts with, such as `seed check`. */
function findCommand(root: Command, words: readonly string[]): Command {
  const [name, ...rest] = words
  const subcommand = root.commands.find((command) => command.name() === name)
  return subcommand ? findCommand(subcommand, rest) : root
}

/** Returns the full name of a command, such as `notification-mock seed check`. */
function fullName(command: Command): string {
  return command.parent ? `${fullName(command.parent)} ${command.name()}` : command.name()
}

/** Formats a usage error as one line that includes the fix. */
function usageMessage(message: string, command: Command): string {
  const [, long] = /^error: required option '(--[\w-]+)/.exec(message) ?? []
  const fix = long ? `; add it, or set ${variableOf({ long })}` : ''
  const line = message.replace(/\.?\n\(Did (you mean .*)\)$/, '; did $1').replaceAll('\n', ' ')
  const text = `${line}${fix} (see ${fullName(command)} --help)\n`
  return command.name() === 'exec' ? text.replace(/^error: /, EXEC_PREFIX) : text
}
