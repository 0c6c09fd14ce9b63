import { STEP_TYPES } from '../../core/enums.js'
import { slugOf } from '../../core/slug.js'
import type { SeedStep } from '../../seeds/format.js'
import { defaultControls } from '../../seeds/resolve/step-controls.js'
import { stepVariables } from '../../seeds/resolve/step-variables.js'
import { isPath } from './message-rules.js'
import { isPlainName, type Replacer } from './replace.js'
import { withoutSecrets } from './secrets.js'

/** Returns a step with other texts; ids, types, the forms of schemas and the variables in texts stay. */
export function replaceStep(document: SeedStep, replacer: Replacer, keepTexts: boolean): SeedStep {
  const { name, slug, controls, controlValues, variables, issues, ...rest } = document
  const changed = name === undefined ? name : keepTexts ? replacer.withoutSecrets(name) : replacer.template(name)
  const choices = new Set(choicesIn(controls?.dataSchema))
  return {
    ...rest,
    ...(changed !== undefined && { name: changed }),
    ...(slug !== undefined && { slug: slugFor(document, changed, replacer) }),
    ...(controls && { controls: schemaWith(replacer, controls) as typeof controls }),
    ...(controlValues && {
      controlValues: (keepTexts
        ? withoutSecrets(replacer, withOtherChoices(replacer, controlValues, choices), 'controlValues')
        : controlsWith(replacer, controlValues, choices)) as typeof controlValues
    }),
    ...(variables && { variables: schemaWith(replacer, variables) as typeof variables }),
    ...(issues && { issues: issuesWith(replacer, issues) as typeof issues })
  }
}

function slugFor({ _id, name, slug = '' }: SeedStep, changed: string | undefined, replacer: Replacer): string {
  if (changed === name) return slug
  return _id === undefined || changed === undefined ? replacer.opaque('step', slug) : slugOf(changed, 'st', _id)
}

function issuesWith(replacer: Replacer, issues: object): object {
  const groups = Object.entries(issues).map(([group, lists]) => [
    group,
    Object.fromEntries(
      Object.entries(lists as Record<string, Issue[]>).map(([key, list]) => [
        isPath(key) ? key : replacer.opaque('field', key),
        list.map((issue) => ({
          ...issue,
          ...(issue.variableName !== undefined && {
            variableName: isPath(issue.variableName) ? issue.variableName : replacer.opaque('name', issue.variableName)
          }),
          message: replacer.template(issue.message)
        }))
      ])
    )
  ])
  return Object.fromEntries(groups)
}

interface Issue {
  variableName?: string
  message: string
}

/** Fields of JSON Schema, and of the form for controls, that hold words and no texts. */
const SCHEMA_WORDS = new Set(['type', 'format', '$schema', '$ref', '$id', 'component', 'group'])
/** Those that hold values to choose from. */
const CHOICES = new Set(['enum', 'const'])
/** Those that hold any values. */
const VALUES = new Set(['default', 'examples', 'placeholder'])

let vocabulary: Set<string> | undefined

/** The texts of the schemas that every step has. */
function isCommonText(text: string): boolean {
  if (!vocabulary) {
    vocabulary = new Set()
    const steps = STEP_TYPES.map((type) => ({ stepId: type, type }))
    collect([stepVariables(steps, {}), STEP_TYPES.map((type) => defaultControls(type))], vocabulary)
  }
  return vocabulary.has(text)
}

function collect(value: unknown, into: Set<string>): void {
  if (typeof value === 'string') into.add(value)
  else if (typeof value === 'object' && value !== null) for (const inner of Object.values(value)) collect(inner, into)
}

/** A value to choose from stays if it is a word such as programs have. */
function choiceWith(replacer: Replacer, source: string): string {
  return isPlainName(source) || isCommonText(source) ? source : replacer.template(source)
}

/** The name of a field stays if it is one such as programs have. */
function nameWith(replacer: Replacer, source: string): string {
  return isPlainName(source) ? source : replacer.opaque('field', source)
}

/** The number of a phone has as many digits, or more; what counts or measures has fewer. */
const MIN_DIGITS = 7

/** A number stays unless it may be that of a phone, a card or a place, or is a secret. */
function numberWith(replacer: Replacer, source: number, field = ''): number {
  const isLong = String(source).replaceAll(/\D/g, '').length >= MIN_DIGITS
  return isLong || replacer.isSecret(field) ? replacer.number(source) : source
}

/** A pattern stays unless it spells out an address, a number or words: then everything matches. */
function patternWith(source: string): string {
  const plain = source.replaceAll('\\', '')
  return /[\p{L}\d]@[\p{L}\d-]+\.|\d{5}|\p{L}{2} \p{L}{2}|:\/\/\p{L}{2}/u.test(plain) && !isCommonText(source)
    ? '.*'
    : source
}

/** Returns a JSON Schema, or a form for controls, with other texts. */
function schemaWith(replacer: Replacer, value: unknown, field = '', isValue = false): unknown {
  if (typeof value === 'number') {
    if (isValue) return replacer.number(value)
    return CHOICES.has(field) ? numberWith(replacer, value) : value
  }
  if (typeof value === 'string') {
    if (!isValue && CHOICES.has(field)) return choiceWith(replacer, value)
    if (!isValue && field === 'pattern') return patternWith(value)
    if (!isValue && field === 'required') return nameWith(replacer, value)
    return (SCHEMA_WORDS.has(field) && !isValue) || isCommonText(value) ? value : replacer.template(value)
  }
  if (Array.isArray(value)) return value.map((each) => schemaWith(replacer, each, field, isValue))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      nameWith(replacer, name),
      schemaWith(replacer, inner, name, isValue || (VALUES.has(name) && field !== 'properties'))
    ])
  )
}

/** The values that a schema offers. */
function choicesIn(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null) return []
  return Object.entries(schema).flatMap(([name, value]) =>
    name === 'enum' || name === 'const' ? [value].flat().map(String) : choicesIn(value)
  )
}

/** Returns control values as they are, but for choices that the schema has no more. */
function withOtherChoices(replacer: Replacer, value: unknown, choices: ReadonlySet<string>): unknown {
  if (typeof value === 'string') return choices.has(value) ? choiceWith(replacer, value) : value
  if (typeof value === 'number') return choices.has(String(value)) ? numberWith(replacer, value) : value
  if (Array.isArray(value)) return value.map((each) => withOtherChoices(replacer, each, choices))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, withOtherChoices(replacer, each, choices)])
  )
}

/** Returns control values with other texts and long numbers; other numbers, choices and variables stay. */
function controlsWith(replacer: Replacer, value: unknown, choices: ReadonlySet<string>): unknown {
  return walk(value, '')

  function walk(inner: unknown, field: string): unknown {
    if (typeof inner === 'string') return textOf(inner, field)
    if (typeof inner === 'number') return numberWith(replacer, inner, field)
    if (Array.isArray(inner)) return inner.map((each) => walk(each, field))
    if (typeof inner !== 'object' || inner === null) return inner
    return Object.fromEntries(Object.entries(inner).map(([name, each]) => [nameWith(replacer, name), walk(each, name)]))
  }

  function textOf(source: string, field: string): string {
    if (replacer.isSecret(field)) return replacer.secret(source)
    if (choices.has(source)) return choiceWith(replacer, source)
    // What the block editor writes: a document, as JSON.
    const editor = source.startsWith('{"') ? parsed(source) : undefined
    return editor ? JSON.stringify(blocks(editor, '')) : replacer.template(source)
  }

  function blocks(inner: unknown, field: string): unknown {
    if (typeof inner === 'string') return field === 'type' && isPlainName(inner) ? inner : replacer.template(inner)
    if (typeof inner === 'number') return numberWith(replacer, inner, field)
    if (Array.isArray(inner)) return inner.map((each) => blocks(each, field))
    if (typeof inner !== 'object' || inner === null) return inner
    return Object.fromEntries(
      Object.entries(inner).map(([name, each]) => [nameWith(replacer, name), blocks(each, name)])
    )
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
