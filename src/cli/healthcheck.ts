import type { Command } from 'commander'
import { reachableHost } from '../config.js'
import { StartError } from '../core/errors.js'
import { addOptions, hostOption, portOption } from './options.js'

/** In milliseconds: less than a container engine gives the check. */
const TIMEOUT = 2500

export function addHealthcheck(program: Command): void {
  const command = program
    .command('healthcheck')
    .description('ask a running server whether it is healthy: exit code 0 when it is, 1 when it is not')
  const options = [hostOption('address that the server listens on'), portOption('port that the server listens on', 1)]
  addOptions(command, options).action(async ({ host, port }: { host: string; port: number }) => {
    const url = `http://${reachableHost(host)}:${port}/health`
    const ask = async () => {
      const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT) })
      return { response, text: await response.text() }
    }
    const { response, text } = await ask().catch(({ cause, message }) => {
      throw new StartError(`${url}: no answer: ${cause?.code ?? cause?.message ?? message}`)
    })
    if (!response.ok) throw new StartError(`${url}: answers ${response.status}: ${text.slice(0, 500)}`)
    process.stdout.write('healthy\n')
  })
}
