import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import type { Command } from 'commander'
import { reachableHost } from '../config.js'
import { askHealth } from './health.js'
import { addOptions, hostOption, portOption } from './options.js'

export function addHealthcheck(program: Command): void {
  const command = program
    .command('healthcheck')
    .description('ask a running server whether it is healthy: exit code 0 when it is, 1 when it is not')
  const options = [hostOption('address that the server listens on'), portOption('port that the server listens on', 1)]
  addOptions(command, options).action(async (given: { host: string; port: number }) => {
    const flags = serverFlags()
    const optionOf = (name: 'host' | 'port') =>
      `${(command.getOptionValueSource(name) !== 'cli' && flags[name]) || given[name]}`
    await askHealth(`http://${reachableHost(optionOf('host'))}:${optionOf('port')}`)
    process.stdout.write('healthy\n')
  })
}

/** Returns where the server of this container was told to listen, from the command line of the container's first process. */
function serverFlags(): { host?: string | boolean | undefined; port?: string | boolean | undefined } {
  let words: string[]
  try {
    words = readFileSync('/proc/1/cmdline', 'utf8').split('\0')
  } catch {
    return {}
  }
  const command = words.findIndex((word) => /notification-mock$|dist\/cli\/index\.js$/.test(word))
  if (command === -1) return {}
  const options = { host: { type: 'string' }, port: { type: 'string' } } as const
  return parseArgs({ args: words.slice(command + 1), options, strict: false }).values
}
