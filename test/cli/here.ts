import { vi } from 'vitest'
import { mockOptions, type ServerFlags } from '../../src/cli/options.js'
import { commandLine, run } from '../../src/cli/program.js'
import type { MockOptions } from '../../src/index.js'
import type { ProcessResult } from '../support/process.js'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Runs a command line in this process, which is a hundred times faster than starting a new process.
 * Don't use it to start a server, or for the command `exec`.
 */
export async function runHere(
  args: readonly string[],
  env: Record<string, string> = {}
): Promise<Omit<ProcessResult, 'signal'>> {
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value)
  const before = new Set(SIGNALS.flatMap((signal) => process.listeners(signal)))
  const outputBefore = new Set(process.stdout.listeners('error'))
  let stdout = ''
  let stderr = ''
  const write = vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    stdout += text
    return true
  })
  try {
    await run(['node', 'notification-mock', ...args], (text) => {
      stderr += text
    })
    return { code: Number(process.exitCode ?? 0), stdout, stderr }
  } finally {
    process.exitCode = undefined
    write.mockRestore()
    vi.unstubAllEnvs()
    for (const signal of SIGNALS) {
      for (const listener of process.listeners(signal))
        if (!before.has(listener)) process.off(signal, listener)
    }
    for (const listener of process.stdout.listeners('error')) {
      if (!outputBefore.has(listener)) process.stdout.off('error', listener as () => void)
    }
  }
}

/** Returns the server options for a command line, without starting a server. */
export async function optionsOf(
  args: readonly string[],
  env: Record<string, string> = {}
): Promise<MockOptions> {
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value)
  const root = await commandLine('serve')
  let options: MockOptions = {}
  root.commands[0]?.action((flags: ServerFlags, command) => {
    options = mockOptions(flags, command)
  })
  await root.parseAsync(['serve', ...args], { from: 'user' })
  vi.unstubAllEnvs()
  return options
}
