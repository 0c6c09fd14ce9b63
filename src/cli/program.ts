import { Command, CommanderError, Help, type Option } from 'commander'
import { StartError } from '../domain/errors.js'
import { VERSION } from '../platform/package.js'
import { writeToStderr } from '../platform/stderr.js'
import { describeOption, variableOf } from './options.js'
import { EXEC_PREFIX, messageOf } from './terminal.js'

const background = () => import('./background.js')
const reach = () => import('./reach.js')

/** The module of each command. Loaded when the command is asked for: a start needs none of the others. */
const MODULES: Record<string, () => Promise<{ addCommands(root: Command): void }>> = {
  serve: () => import('./serve.js'),
  start: background,
  'serve-in-background': background,
  status: background,
  stop: background,
  exec: () => import('./exec.js'),
  wait: reach,
  coverage: () => import('./coverage.js'),
  conformance: () => import('./conformance.js'),
  seed: () => import('./seed.js'),
  record: () => import('./record.js'),
  compare: () => import('./compare.js'),
  openapi: () => import('./openapi.js'),
  healthcheck: reach
}

/** Runs a command line, prints what goes wrong, and sets the exit code: 1 it could not be done, 2 a wrong command line. */
export async function run(
  argv: string[],
  print: (text: string) => void = writeToStderr
): Promise<void> {
  process.stdout.on('error', ({ code = '' }: NodeJS.ErrnoException) => {
    // A reader that has enough, such as `head`, is no error. A server whose output can't be written goes on.
    if (code === 'EPIPE') return
    writeToStderr(
      `error: can't write to stdout: ${code === 'ENOSPC' ? 'the disk is full; free some space' : code}\n`
    )
    process.exitCode = 1
  })
  const given = argv.slice(2)
  const isForAll = given.some((word) => ['-h', '--help', '-V', '--version'].includes(word))
  // Without a command, it is `serve`.
  const words = !isForAll && (given[0] ?? '-').startsWith('-') ? ['serve', ...given] : given
  const [name = ''] = words
  try {
    const root = await commandLine(name)
    await root.parseAsync(words, { from: 'user' })
  } catch (error) {
    process.exitCode = 1
    if (!(error instanceof CommanderError)) {
      return print(`${error instanceof StartError ? 'error: ' : ''}${messageOf(error)}\n`)
    }
    process.exitCode = error.exitCode === 0 ? 0 : 2
    if (error.exitCode !== 0 && error.code !== 'commander.help')
      print(usageMessage(error.message, name))
  }
}

/** Returns the command for one run: with the subcommand of this name, or else with all of them. */
export async function commandLine(name = ''): Promise<Command> {
  const root = new Command('notification-mock')
    .usage('[command] [options]')
    .description(
      'A stand-in for a notification service: three of its operations on real state, from one command.'
    )
    .version(VERSION, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .exitOverride()
    // So that exec leaves the flags of its command alone.
    .enablePositionalOptions()
    // `run` prints errors, in one line each.
    .configureOutput({ outputError: () => {} })
    .configureHelp({ optionDescription: describeOption, visibleOptions })
    .addHelpText('after', EXAMPLES)
  const wanted = Object.hasOwn(MODULES, name) ? [MODULES[name]] : new Set(Object.values(MODULES))
  for (const load of wanted) (await load?.())?.addCommands(root)
  root.commandsGroup('Ask about it:').helpCommand('help [command]', 'print the help of a command')
  return root
}

/** `notification-mock --help` is typed most, so it lists the flags of `serve` too. */
function visibleOptions(command: Command): Option[] {
  const [serve] = command.parent ? [] : command.commands
  return [...(serve?.options ?? []), ...new Help().visibleOptions(command)]
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

/** In one line, with the remedy. */
function usageMessage(message: string, name: string): string {
  const [, long] = /^error: required option '(--[\w-]+)/.exec(message) ?? []
  const remedy = long ? `; give it, or set ${variableOf({ long })}` : ''
  const line = message.replace(/\.?\n\(Did (you mean .*)\)$/, '; did $1').replaceAll('\n', ' ')
  const text = `${line}${remedy} (see notification-mock ${Object.hasOwn(MODULES, name) ? `${name} ` : ''}--help)\n`
  return name === 'exec' ? text.replace(/^error: /, EXEC_PREFIX) : text
}
