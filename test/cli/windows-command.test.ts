import { describe, expect, test } from 'vitest'
import { windowsCommand } from '../../src/cli/windows-command.js'

const NPM = 'C:\\Program Files\\nodejs\\npm.cmd'
const BIN = 'node_modules\\.bin\\jest.cmd'
const FILES = [NPM, 'C:\\Program Files\\nodejs\\node.exe', BIN, 'tools\\run.bat', 'C:\\other\\node.cmd']
const VARIABLES = {
  PATH: 'C:\\Program Files\\nodejs;C:\\other',
  PATHEXT: '.COM;.EXE;.BAT;.CMD',
  ComSpec: 'C:\\Windows\\system32\\cmd.exe'
}
const exists = (path: string) => FILES.some((each) => each.toLowerCase() === path.toLowerCase())

const commandOf = (...words: string[]) => windowsCommand(words, VARIABLES, exists)

describe('a command on Windows', () => {
  test.each([
    ['node', '-e', 'a & b'],
    ['gone'],
    ['C:\\Program Files\\nodejs\\node.exe', '%PATH%'],
    ['cmd', '/c', 'dir']
  ])('that is a program, or nothing, is run as it was given: %s', (...words) => {
    const [file, ...args] = words
    expect(commandOf(...words)).toEqual({ file, args, windowsVerbatimArguments: false })
  })

  test.each([
    ['npm', 'C:\\Program^ Files\\nodejs\\npm.CMD'],
    ['npm.cmd', 'C:\\Program^ Files\\nodejs\\npm.cmd'],
    ['tools/run', 'tools\\run.BAT'],
    ['.\\tools\\run.bat', 'tools\\run.bat']
  ])('that is a script is run by cmd: %s', (name, script) => {
    expect(commandOf(name, 'test')).toEqual({
      file: VARIABLES.ComSpec,
      args: ['/d', '/s', '/c', `"${script} ^"test^""`],
      windowsVerbatimArguments: true
    })
  })

  test.each([
    ['a b', 'a b'],
    ['a&b|c>d', 'a&b|c>d'],
    ['%PATH%', '%PATH%'],
    ['say "no"', 'say \\"no\\"'],
    ['C:\\a b\\', 'C:\\a b\\\\'],
    ['\\"', '\\\\\\"'],
    ['', '']
  ])('whose script has the argument %j gets it as it is', (argument, inQuotes) => {
    const lineOf = (name: string) => String(commandOf(name, argument).args.at(-1)).slice(1, -1)
    expect(asReadByCmd(lineOf('npm'))).toBe(`C:\\Program Files\\nodejs\\npm.CMD "${inQuotes}"`)
    expect(asReadByCmd(asReadByCmd(lineOf('node_modules\\.bin\\jest')))).toBe(
      `node_modules\\.bin\\jest.CMD "${inQuotes}"`
    )
  })
})

/** A line as cmd leaves it: without the carets, and none of its own characters may stand there without one. */
function asReadByCmd(line: string): string {
  expect(line.replaceAll(/\^./g, '')).not.toMatch(/[()%!^"<>&|]/)
  return line.replaceAll(/\^(.)/g, '$1')
}
