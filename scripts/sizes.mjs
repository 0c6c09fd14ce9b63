import { readFileSync } from 'node:fs'
import ts from 'typescript'

const MAX_FILE = 350
const MAX_FUNCTION = 80
/** Of a function that is a list of methods, its state is declared in so many lines, comments apart. */
const STATE_LINES = 10
const COMMENT = /^\s*(\/\/|\/?\*|$)/

/**
 * The files over 350 lines (the wire schemas in schemas.ts apart) and the functions over 80, one line each.
 *
 * A function that declares and returns functions counts without these, as each of them counts by itself, if the state
 * that they share is declared in its first ten lines.
 */
export function findOversized(files) {
  return files.flatMap((file) => {
    const text = readFileSync(file, 'utf8')
    const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true)
    const lines = text.split('\n').length - 1
    const isLong = lines > MAX_FILE && !file.endsWith('/schemas.ts')
    return [
      ...(isLong ? [`too long: ${file} has ${lines} lines, at most ${MAX_FILE} are allowed`] : []),
      ...longFunctions(source)
    ]
  })
}

function longFunctions(source) {
  const found = []
  const visit = (node) => {
    if (ts.isFunctionLike(node) && node.body) {
      const lines = countedLines(node, source)
      if (lines > MAX_FUNCTION) {
        const { line } = source.getLineAndCharacterOfPosition(node.getStart())
        const name = node.name?.getText() ?? node.parent.name?.getText() ?? 'a function'
        found.push(
          `too long: ${source.fileName}:${line + 1} ${name} has ${lines} lines, at most ${MAX_FUNCTION} are allowed`
        )
      }
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return found
}

function countedLines(node, source) {
  const lineOf = (position) => source.getLineAndCharacterOfPosition(position).line
  const linesOf = (each) => lineOf(each.getEnd()) - lineOf(each.getStart()) + 1
  const whole = linesOf(node)
  if (!node.body || !ts.isBlock(node.body)) return whole
  const { statements } = node.body
  const codeLinesBefore = (position) =>
    source.text
      .slice(node.body.getStart(), position)
      .split('\n')
      .slice(1, -1)
      .filter((line) => !COMMENT.test(line)).length
  const isLateState = (statement) =>
    isState(statement) && codeLinesBefore(statement.getStart()) >= STATE_LINES
  if (statements.some(isLateState)) return whole
  return statements.flatMap(methodsOf).reduce((lines, method) => lines - linesOf(method), whole)
}

/** A variable that can be assigned again, or a collection that can be filled. */
function isState(statement) {
  if (!ts.isVariableStatement(statement)) return false
  const { flags, declarations } = statement.declarationList
  return (
    !(flags & ts.NodeFlags.Const) ||
    declarations.some(({ initializer }) => initializer && ts.isNewExpression(initializer))
  )
}

function methodsOf(statement) {
  if (ts.isFunctionDeclaration(statement)) return [statement]
  if (
    !ts.isReturnStatement(statement) ||
    !statement.expression ||
    !ts.isObjectLiteralExpression(statement.expression)
  )
    return []
  return statement.expression.properties
    .map((property) => (ts.isPropertyAssignment(property) ? property.initializer : property))
    .filter((each) => ts.isFunctionLike(each))
}
