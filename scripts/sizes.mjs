/** Finds files and functions that are too long to read in one pass. */
import { readFileSync } from 'node:fs'
import ts from 'typescript'

const MAX_FILE_LINES = 400
const MAX_FUNCTION_LINES = { src: 80, test: 40 }

/** The function passed to `describe` may be long, because its tests are measured separately. */
const TEST_GROUP = /^describe\b/

/**
 * Returns a problem for each file over 400 lines, except schemas.ts files and files in test/. Also
 * returns a problem for each function over 80 lines in src/ or over 40 lines in test/. A function's
 * lines include those of its nested functions.
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
  return [`too long: ${file} has ${lines} lines (maximum: ${MAX_FILE_LINES})`]
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
        problems.push(`too long: ${place} has ${lines} lines (maximum: ${maxLines})`)
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
