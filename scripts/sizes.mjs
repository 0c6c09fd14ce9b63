/** Finds files and functions that are too long to read in one pass. */
import { readFileSync } from 'node:fs'
import ts from 'typescript'

const MAX_FILE_LINES = 400
/**
 * Tests should have at most 40 lines. Lower their limit whenever the longest ones have been split.
 */
const MAX_FUNCTION_LINES = { src: 80, test: 130 }

/** A `describe` is a list of tests, each of which counts by itself. */
const TEST_GROUP = /^describe\b/

/**
 * Returns one line for each file over 400 lines and each function that is too long, counted whole,
 * with every function inside it: over 80 lines in src/, over 130 in test/. Wire schemas and tests
 * may be longer files.
 */
export function findOversized(files) {
  return files.flatMap((file) => {
    const text = readFileSync(file, 'utf8')
    const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true)
    return [...longFile(file, text), ...longFunctions(source)]
  })
}

function longFile(file, text) {
  const lines = text.split('\n').length - 1
  const mayBeLong = file.startsWith('test/') || file.endsWith('/schemas.ts')
  if (lines <= MAX_FILE_LINES || mayBeLong) return []
  return [`too long: ${file} has ${lines} lines, at most ${MAX_FILE_LINES} are allowed`]
}

function longFunctions(source) {
  const maxLines = source.fileName.startsWith('test/')
    ? MAX_FUNCTION_LINES.test
    : MAX_FUNCTION_LINES.src
  const lineOf = (position) => source.getLineAndCharacterOfPosition(position).line + 1
  const problems = []
  const visit = (node) => {
    if (ts.isFunctionLike(node) && node.body && !isTestGroup(node)) {
      const first = lineOf(node.getStart())
      const lines = lineOf(node.getEnd()) - first + 1
      if (lines > maxLines) {
        const place = `${source.fileName}:${first} ${nameOf(node)}`
        problems.push(`too long: ${place} has ${lines} lines, at most ${maxLines} are allowed`)
      }
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return problems
}

function isTestGroup({ parent }) {
  return ts.isCallExpression(parent) && TEST_GROUP.test(parent.expression.getText())
}

function nameOf(node) {
  return node.name?.getText() ?? node.parent.name?.getText() ?? 'a function'
}
