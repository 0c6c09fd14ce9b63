import type { ComponentChildren } from 'preact'
import { CopyButton } from '../../parts/copy.js'
import { isObject, type JsonSchema, limitsText, propertiesOf, requiredOf, typeText } from './schema.js'

/** The variables that a step can use, as a tree. A click copies one as templates name it. */
export function Variables({ schema, used }: { schema: JsonSchema; used: ReadonlySet<string> }) {
  if (Object.keys(propertiesOf(schema)).length === 0) return <p class="hint">The step tells of no variables.</p>
  return (
    <div class="tree">
      <Nodes schema={schema} path="" used={used} />
    </div>
  )
}

interface NodesProps {
  schema: JsonSchema
  path: string
  used: ReadonlySet<string>
}

function Nodes({ schema, path, used }: NodesProps) {
  const required = new Set(requiredOf(schema))
  return (
    <ul>
      {Object.entries(propertiesOf(schema)).map(([name, own]) => (
        <li key={name}>
          <Node
            name={name}
            schema={own}
            path={path ? `${path}.${name}` : name}
            isRequired={required.has(name)}
            used={used}
          />
        </li>
      ))}
    </ul>
  )
}

function Node({ name, schema, path, isRequired, used }: NodesProps & { name: string; isRequired: boolean }) {
  const items = isObject(schema.items) ? schema.items : undefined
  const inner = items ?? schema
  const isBranch = Object.keys(propertiesOf(inner)).length > 0
  // Below the first of a list, as templates name it.
  const innerPath = items ? `${path}[0]` : path
  const line = (
    <Line schema={schema} isRequired={isRequired} isUsed={[...used].some((each) => isWithin(each, path))}>
      {isBranch ? (
        <strong dir="auto">{name}</strong>
      ) : (
        <CopyButton text={`{{${path}}}`} title={`Copy {{${path}}}`}>
          <bdi>{name}</bdi>
        </CopyButton>
      )}
    </Line>
  )
  if (!isBranch) return line
  return (
    <details open>
      <summary>{line}</summary>
      <Nodes schema={inner} path={innerPath} used={used} />
    </details>
  )
}

/** Whether a variable is this one, or something in it. */
function isWithin(variable: string, path: string): boolean {
  return variable === path || (variable.startsWith(path) && '.['.includes(variable.charAt(path.length)))
}

function Line({
  schema,
  isRequired,
  isUsed,
  children
}: {
  schema: JsonSchema
  isRequired: boolean
  isUsed: boolean
  children: ComponentChildren
}) {
  const { description, additionalProperties } = schema
  const isFree = schema.type === 'object' && isEmpty(schema) && additionalProperties !== false
  return (
    <span class="line">
      {children}
      <span class="hint">{[typeText(schema), limitsText(schema)].filter(Boolean).join(', ')}</span>
      {isRequired && <span class="badge">required</span>}
      {isUsed && <span class="badge is-accent">used here</span>}
      {isFree && <span class="hint">anything in it</span>}
      {schema.type === 'object' && isEmpty(schema) && !isFree && <span class="hint">nothing in it</span>}
      {typeof description === 'string' && (
        <span class="hint description" dir="auto">
          {description}
        </span>
      )}
    </span>
  )
}

function isEmpty(schema: JsonSchema): boolean {
  return Object.keys(propertiesOf(schema)).length === 0
}
