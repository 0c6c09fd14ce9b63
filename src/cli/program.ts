import { Command, CommanderError } from 'commander'
import { StartError } from '../errors.js'
import { SeedError } from '../seeds/read.js'
import { VERSION } from '../version.js'
import { addHealthcheck } from './healthcheck.js'
import { addOpenapi } from './openapi.js'
import { addSeed } from './seed.js'
import { addServe } from './serve.js'

const FAILED = 1
const WRONG_USAGE = 2

/** Runs a command line. Sets the exit code: 0 done, 1 it could not be done, 2 the command line is wrong. */
export async function run(argv: string[]): Promise<void> {
  try {
    const program = new Command('notification-mock')
      .description('A stand-in for a notification service: three operations on real state, from one command.')
      .version(VERSION, '-V, --version')
      .exitOverride()
      .addHelpText('after', EXAMPLES)
    addServe(program)
    addSeed(program)
    addOpenapi(program)
    addHealthcheck(program)
    await program.parseAsync(argv)
  } catch (error) {
    process.exitCode = report(error)
  }
}

const EXAMPLES = `
Examples:
  $ notification-mock                                 serve the default seed on http://127.0.0.1:4210
  $ notification-mock --seed shop.yaml --port 0       serve a seed of your own on a free port
  $ notification-mock --data mock.db --profile live   keep the data, and answer as the deployed service does
  $ notification-mock seed check shop.yaml            tell every mistake in a seed
  $ notification-mock serve --help                    all that can be set, with its environment variables`

/** Tells the user what went wrong, in lines without a stack; gives the exit code. */
function report(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : WRONG_USAGE
  if (error instanceof StartError || error instanceof SeedError) {
    process.stderr.write(`${error.message}\n`)
    return FAILED
  }
  process.stderr.write(`${error instanceof Error ? error.stack : error}\n`)
  return FAILED
}
