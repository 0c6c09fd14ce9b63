import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Page } from '@playwright/test'
import { expect, type TestContext } from 'vitest'
import { openPage } from './browser.js'
import { createProject, envWithoutRunner } from './project.js'

/**
 * Creates a project with the files and runs a program in it under `exec --report`. Returns the exit
 * code, the output and the report's path.
 */
export async function runWithReport(files: Record<string, string>, program: readonly string[]) {
  const cwd = await createProject(files)
  const command = join(cwd, 'node_modules/notification-mock/dist/cli/index.js')
  const args = [command, 'exec', '--report', 'run.html', '--', ...program]
  const [code, output] = await new Promise<[unknown, string]>((resolve) => {
    execFile(process.execPath, args, { cwd, env: envWithoutRunner() }, (error, stdout, stderr) =>
      resolve([error?.code ?? 0, stdout + stderr])
    )
  })
  return { code, output, file: join(cwd, 'run.html') }
}

/**
 * Runs a script under `exec --report`. In the script, `mock` is a client of the server. Returns the
 * report's path.
 */
export async function reportOfScript(script: string, ...args: string[]): Promise<string> {
  const head =
    `import { connect } from 'notification-mock'\n` +
    'const mock = connect(process.env.NOTIFICATION_MOCK_URL)\n'
  const { file, ...result } = await runWithReport({ 'script.js': head + script }, [
    process.execPath,
    'script.js',
    ...args
  ])
  expect(result).toMatchObject({ code: 0 })
  return file
}

/** Opens a report from disk in a browser without a network. */
export async function openReport(context: TestContext, file: string, options = {}) {
  const opened = await openPage(context, options)
  await opened.page.context().setOffline(true)
  await opened.page.goto(pathToFileURL(file).href)
  await opened.page.getByRole('list', { name: 'Tests' }).waitFor()
  return opened
}

/** Locates the links in the list of tests. */
export const reportedTests = (page: Page) =>
  page.getByRole('list', { name: 'Tests' }).getByRole('link')
