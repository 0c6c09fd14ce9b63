import type { WorkflowStep } from '../../../client/index.js'
import { alternativesOf, isObject, type JsonSchema, optionsOf, propertiesOf, requiredOf } from './schema.js'

/** A field of a step's controls: what either schema says of it, its value, and what is wrong with that. */
export interface Field {
  name: string
  /** From the top, such as `redirect.url`. */
  path: string
  /** The kind of control that the editor shows for it. */
  component: string | undefined
  placeholder: unknown
  schema: JsonSchema
  /** Whether the data schema or the user interface schema knows it. */
  isDeclared: boolean
  isRequired: boolean
  /** What can be chosen, if it is a choice. */
  options: unknown[] | undefined
  /** Undefined if it is not set. */
  value: unknown
  fields: Field[]
  issues: Issue[]
}

export interface Issue {
  issueType: string
  message: string
  variableName?: string | undefined
}

export interface Controls {
  fields: Field[]
  /** Fields that other kinds of this step have, such as `cron` of a digest that has an amount. */
  otherFields: Field[]
  /** The fields of which one must be set, if it is a choice. */
  oneOf: string[]
  /** Issues of what is no field. */
  strayIssues: { path: string; issues: Issue[] }[]
}

interface UiProperty {
  component?: string
  placeholder?: unknown
  properties?: UiProperties
}

type UiProperties = Record<string, UiProperty>
type Issues = Record<string, Issue[]>

/** Returns the controls of a step as a form. The schemas may be anything: a seed can declare its own. */
export function controlsOf({ controls, controlValues, issues }: WorkflowStep): Controls {
  const values = isObject(controlValues) ? controlValues : valuesWithin(controls)
  const ui = (controls.uiSchema?.properties ?? {}) as UiProperties
  const level = { schema: controls.dataSchema ?? {}, ui, value: values, issues: issues?.controls ?? {}, path: '' }
  const all = fieldsOf(level)
  const kinds = alternativesOf(level.schema)
  const kind = chosenKind(kinds, values)
  const isOther = ({ name, value, issues: own }: Field) =>
    controls.dataSchema !== undefined && !(name in propertiesOf(kind)) && value === undefined && own.length === 0
  const isChoice = kinds.length > 1 && kinds.every((each) => !propertiesOf(each).type)
  const oneOf = isChoice ? [...new Set(kinds.flatMap(requiredOf))] : []
  const known = new Set(pathsOf(all))
  return {
    fields: all.filter((field) => !isOther(field)),
    otherFields: all.filter(isOther),
    oneOf,
    strayIssues: Object.entries(level.issues).flatMap(([path, own]) =>
      known.has(path) || own.length === 0 ? [] : [{ path, issues: own }]
    )
  }
}

/** Where the profile `live` has them too. */
function valuesWithin(controls: WorkflowStep['controls']): Record<string, unknown> {
  const { values } = controls as { values?: unknown }
  return isObject(values) ? values : {}
}

interface Level {
  schema: JsonSchema
  ui: UiProperties
  value: Record<string, unknown>
  issues: Issues
  path: string
  placeholders?: unknown
}

function fieldsOf(level: Level): Field[] {
  const { schema, ui, value, issues, path, placeholders } = level
  const kinds = alternativesOf(schema)
  const kind = chosenKind(kinds, value)
  const isRequired = (name: string) =>
    kinds.length === 1 || propertiesOf(kind).type ? requiredOf(kind).includes(name) : false
  const declared = Object.assign({}, ...kinds.map(propertiesOf), propertiesOf(kind)) as Record<string, JsonSchema>
  const names = new Set([...Object.keys(declared), ...Object.keys(ui), ...Object.keys(value)])
  return [...names].sort((one, other) => rankOf(one) - rankOf(other)).map(fieldOf)

  function fieldOf(name: string): Field {
    const own = declared[name] ?? {}
    const ownPath = path === '' ? name : `${path}.${name}`
    const ownUi = ui[name]
    const ownValue = Object.hasOwn(value, name) ? value[name] : undefined
    const placeholder = ownUi?.placeholder ?? nestedPlaceholder(placeholders, name)
    const options = kinds.flatMap((each) => optionsOf(propertiesOf(each)[name] ?? {}))
    return {
      name,
      path: ownPath,
      component: ownUi?.component,
      placeholder,
      schema: own,
      isDeclared: name in declared || name in ui || kind.additionalProperties !== false,
      isRequired: isRequired(name),
      options: options.length > 0 ? [...new Set(options)] : undefined,
      value: ownValue,
      fields: fieldsWithin(own, ownUi, { value: ownValue, issues, path: ownPath, placeholders: placeholder }),
      issues: issues[ownPath] ?? []
    }
  }
}

function fieldsWithin(
  schema: JsonSchema,
  ui: UiProperty | undefined,
  { value, ...rest }: { value: unknown; issues: Issues; path: string; placeholders: unknown }
): Field[] {
  // A condition is one value, whatever it is made of.
  if (ui?.component === 'QUERY_EDITOR' || Array.isArray(value)) return []
  return fieldsOf({ schema, ui: ui?.properties ?? {}, value: isObject(value) ? value : {}, ...rest })
}

/** The service has placeholders of nested fields as `{url: {placeholder: ''}}`; others as values. */
function nestedPlaceholder(placeholders: unknown, name: string): unknown {
  const own = isObject(placeholders) ? placeholders[name] : undefined
  return isObject(own) && 'placeholder' in own ? own.placeholder : own
}

/** Returns the alternative that values are most like. */
function chosenKind(kinds: readonly JsonSchema[], values: Record<string, unknown>): JsonSchema {
  const likeness = (kind: JsonSchema) => {
    const properties = propertiesOf(kind)
    const types = optionsOf(properties.type ?? {})
    const type = values.type === undefined || types.length === 0 ? 0 : types.includes(values.type) ? 10 : -10
    const missing = requiredOf(kind).filter((name) => !(name in values)).length
    const unknown = Object.keys(values).filter((name) => !(name in properties)).length
    return type - missing - unknown
  }
  return kinds.reduce((best, kind) => (likeness(kind) > likeness(best) ? kind : best), kinds[0] ?? {})
}

function pathsOf(fields: readonly Field[]): string[] {
  return fields.flatMap((field) => [field.path, ...pathsOf(field.fields)])
}

/** The order of the editor: what kind it is, what people read, all else, and when it is skipped. */
function rankOf(name: string): number {
  const rank = ['type', 'avatar', 'subject', 'body'].indexOf(name)
  if (rank !== -1) return rank
  return name === 'skip' ? 9 : 5
}
