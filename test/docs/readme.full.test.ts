import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { failingHints, type HintId } from '../../src/client/hints.js'
import { connect, type RunRecord } from '../../src/client/index.js'
import { reportOf } from '../../src/client/report.js'
import { createTempFolder, freePort, runCommand, startCommand } from '../support/process.js'
import {
  blocksOf,
  type Example,
  examplesOf,
  matchesShown,
  outputOf,
  outputOfProgram,
  writeFilesOf
} from './examples.js'

const README = 'README.md'
const SKILL = 'SKILL.md'

test('npm start prints what the README shows', async () => {
  const { printed, url } = await startCommand([])
  const shown = blocksOf(README).find(({ language }) => language === 'text')
  expect(printed.replaceAll(new URL(url).port, '4210')).toBe(shown?.text)
})

test("the README's commands print what it shows, and only the typo causes a hint", async () => {
  const { url } = await startCommand([])
  const folder = createTempFolder()
  writeFilesOf(README, folder)
  const commands = examplesOf(README, 'sh').filter(({ input }) => !input.text.startsWith('npm ci'))
  expect(commands.length).toBeGreaterThanOrEqual(3)
  await expectShown(commands, ({ input }) => outputOf(input.text, folder, portOf(url)))
  expect(failingHintsIn(await connect(url).runRecord())).toEqual(['unknown-parameter'])
})

test('every program in the README prints what the README shows', async () => {
  const { url } = await startCommand([])
  const programs = examplesOf(README, 'js')
  expect(programs.length).toBeGreaterThanOrEqual(1)
  await expectShown(programs, ({ input: { text, file = '' } }) => {
    expect(file).toMatch(/\.mjs$/)
    return outputOfProgram(text.replaceAll('4210', String(portOf(url))), file)
  })
  expect(failingHintsIn(await connect(url).runRecord())).toEqual([])
})

test('every command in the skill for agents prints what the skill shows', async () => {
  const folder = createTempFolder()
  const port = await freePort()
  onTestFinished(async () => {
    await runCommand(['stop', '--port', String(port)])
  })
  writeFilesOf(SKILL, folder)
  const commands = examplesOf(SKILL, 'sh')
  expect(commands.length).toBeGreaterThanOrEqual(5)
  // The last command stops the server, so first save the run's record.
  const save = `curl -s http://127.0.0.1:4210/_mock/report > record.json\nnpx notification-mock stop`
  await expectShown(commands, ({ input }) =>
    outputOf(input.text.replace('npx notification-mock stop', save), folder, port)
  )
  expect(failingHintsIn(JSON.parse(readFileSync(join(folder, 'record.json'), 'utf8')))).toEqual([])
})

/** Returns the ids of the hints that would make `exec --strict` fail. */
function failingHintsIn(record: RunRecord): HintId[] {
  const { tests, hints } = reportOf(record)
  const all = [...tests.flatMap((reported) => reported.hints), ...hints]
  return failingHints(all).map(({ id }) => id)
}

function portOf(url: string): number {
  return Number(new URL(url).port)
}

/** Runs examples one after the other, and compares their output with the output on the page. */
async function expectShown(
  examples: Example[],
  run: (example: Example) => Promise<string>
): Promise<void> {
  const outputs: string[] = []
  for (const example of examples) {
    const printed = await run(example)
    outputs.push(matchesShown(printed, example.output) ? example.output : printed)
  }
  expect(outputs).toEqual(examples.map(({ output }) => output))
}
