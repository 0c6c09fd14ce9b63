/**
 * A Stryker plugin that ignores documentation strings (descriptions and summaries), which don't
 * affect behavior. Another test checks that every field has a description.
 */

/** The index of the description among the arguments of each schema function. */
const ARGUMENT = {
  text: 0,
  textOrNull: 0,
  flag: 0,
  number: 0,
  dateTime: 0,
  freeObject: 0,
  namedObject: 1,
  namedEnum: 1,
  ref: 1,
  recordOf: 1
}

const REASON = 'documentation text'

export const strykerPlugins = [
  {
    kind: 'Ignore',
    name: 'descriptions',
    value: {
      shouldIgnore: (path) => (isDescription(path) || isDescriptionAlone(path) ? REASON : undefined)
    }
  }
]

function isDescription(path) {
  if (!path.isStringLiteral() && !path.isTemplateLiteral()) return false
  if (path.parentPath.isVariableDeclarator()) return onlyDescribes(path.parentPath)
  return isDescriptionProperty(path.parent) || isDescriptionArgument(path)
}

/** Returns whether a constant is used only as a description. */
function onlyDescribes(declarator) {
  const { referencePaths = [] } = declarator.scope.getBinding(declarator.node.id.name) ?? {}
  return referencePaths.length > 0 && referencePaths.every(isDescriptionArgument)
}

/** Returns whether the path is an object whose only property is a description or a summary. */
function isDescriptionAlone(path) {
  return (
    path.isObjectExpression() &&
    path.node.properties.length === 1 &&
    isDescriptionProperty(path.node.properties[0])
  )
}

function isDescriptionProperty({ type, key }) {
  return type === 'ObjectProperty' && ['description', 'summary'].includes(key.name)
}

function isDescriptionArgument({ parent, key, listKey }) {
  return (
    parent.type === 'CallExpression' &&
    listKey === 'arguments' &&
    ARGUMENT[parent.callee.name] === key
  )
}
