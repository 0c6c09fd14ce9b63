import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { examplesOf } from './examples.js'

const README = 'README.md'
const SKILL = 'SKILL.md'
const START = 'npm ci && npm start\n'
const TEST = 'npm ci && npm test\n'

const linesOf = (page: string) => readFileSync(page, 'utf8').trimEnd().split('\n')

test('the README is short, and its first two commands start and test the package', () => {
  expect(linesOf(README).length).toBeLessThanOrEqual(200)
  const commands = examplesOf(README, 'sh').map(({ input }) => input.text)
  expect(commands.slice(0, 2)).toEqual([START, TEST])
})

test('the skill for agents has front matter and is short', () => {
  const lines = linesOf(SKILL)
  expect(lines.slice(0, 4)).toEqual([
    '---',
    'name: notification-mock',
    expect.stringMatching(/^description: ./),
    '---'
  ])
  expect(lines.length).toBeLessThanOrEqual(120)
})
