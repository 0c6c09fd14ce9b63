import type { Command } from 'commander'
import { StartError } from '../errors.js'
import { hostOption, portOption } from './options.js'

const PATIENCE = 5000

export function addHealthcheck(program: Command): void {
  program
    .command('healthcheck')
    .description('ask a running server whether it is healthy: exit code 0 when it is, 1 when it is not')
    .addOption(hostOption())
    .addOption(portOption())
    .action(async ({ host, port }: { host: string; port: number }) => {
      const url = `http://${reachable(host)}:${port}/health`
      const health = await ask(url)
      if (health !== undefined) throw new StartError(`${url}: ${health}`)
      process.stdout.write('healthy\n')
    })
}

/** What is wrong with the server's health, or undefined. */
async function ask(url: string): Promise<string | undefined> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(PATIENCE) })
    return response.ok ? undefined : `answers ${response.status}: ${await response.text()}`
  } catch (error) {
    const { cause, message } = error as Error & { cause?: { code?: string } }
    return `no answer: ${cause?.code ?? message}`
  }
}

/** Where a server that listens on this address can be asked: one that listens on all of them, on loopback. */
function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  if (host === '::') return '[::1]'
  return host.includes(':') ? `[${host}]` : host
}
