import { Json } from '../../parts/json.js'
import { conditionText } from './condition.js'
import type { Field, Issue } from './fields.js'
import { isObject, limitsText, typeText } from './schema.js'
import { Blocks, blocksIn, TemplateText } from './text.js'

/** Fields side by side, as the editor of the service shows them. */
export function Controls({ fields }: { fields: readonly Field[] }) {
  return (
    <div class="controls">
      {fields.map((field) => (
        <Control key={field.name} field={field} />
      ))}
    </div>
  )
}

function Control({ field }: { field: Field }) {
  const { name, path, schema, component, isRequired, isDeclared, issues } = field
  const facts = [typeText(schema), limitsText(schema)].filter(Boolean).join(', ')
  return (
    <div class={isNarrow(field) ? 'control' : 'control is-wide'} role="group" aria-label={path}>
      <div class="control-head">
        <strong dir="auto">{name}</strong>
        {isRequired && <span class="badge">required</span>}
        {!isDeclared && <span class="badge is-warn">not in the data schema</span>}
        <span class="hint">{facts}</span>
        {component !== undefined && <code class="spread">{component}</code>}
      </div>
      {typeof schema.description === 'string' && (
        <p class="hint" dir="auto">
          {schema.description}
        </p>
      )}
      <Value field={field} />
      <IssueList issues={issues} />
    </div>
  )
}

export function IssueList({ issues }: { issues: readonly Issue[] }) {
  if (issues.length === 0) return null
  return (
    <ul class="issues">
      {issues.map(({ issueType, message, variableName }) => (
        <li key={`${message} ${variableName}`}>
          <span dir="auto">{message}</span> <code>{issueType}</code>
          {variableName !== undefined && <code dir="auto">{variableName}</code>}
        </li>
      ))}
    </ul>
  )
}

/** What the editor has in a column of its own width. */
function isNarrow({ fields, value, options, schema, component }: Field): boolean {
  if (fields.length > 0 || isObject(value) || Array.isArray(value)) return false
  if (options && options.length > 3) return false
  if (component && /BODY|SUBJECT|LABEL|LINE|EDITOR$|AVATAR|DATA|DROPDOWN/.test(component)) return isShort(schema)
  return component !== undefined || options !== undefined || isShort(schema)
}

function isShort({ type }: Field['schema']): boolean {
  return ['number', 'integer', 'boolean'].includes(String(type))
}

function Value({ field }: { field: Field }) {
  const { value, schema, options, component, fields } = field
  if (isSwitch(field)) return <Switch field={field} />
  if (options) return <Options field={field} options={options} />
  if (component === 'QUERY_EDITOR' && value !== undefined) return <Condition value={value} />
  const isSet = value !== undefined || fields.some(isFilled)
  if (fields.length > 0 && isSet) return <Controls fields={fields} />
  if (value === undefined) return <Unset field={field} />
  if (typeof value === 'string') return <Text value={value} />
  if (Array.isArray(value) && value.length > 0 && !value.some((each) => typeof each === 'object')) {
    return (
      <ul class="control-value chips">
        {value.map((each) => (
          <li key={String(each)} class="chip" dir="auto">
            {String(each)}
          </li>
        ))}
      </ul>
    )
  }
  if (typeof value === 'object' && value !== null) return <Json value={value} label={field.path} />
  return <p class="control-value">{value === null && typeText(schema) ? 'none (null)' : String(value)}</p>
}

/** Whether there is something to show in a field or below it. */
function isFilled({ value, issues, fields }: Field): boolean {
  return value !== undefined || issues.length > 0 || fields.some(isFilled)
}

function Text({ value }: { value: string }) {
  const blocks = blocksIn(value)
  if (value === '') return <p class="control-value is-unset">empty text</p>
  return (
    <div class="control-value" dir="auto">
      {blocks ? <Blocks blocks={blocks} /> : <TemplateText text={value} />}
    </div>
  )
}

/** What the field shows as long as nobody has filled it. */
function Unset({ field: { placeholder, schema, component } }: { field: Field }) {
  const standIn = [placeholder, schema.default].find((each) => each !== undefined && each !== '' && !isObject(each))
  const text = typeof standIn === 'string' ? standIn : standIn !== undefined && JSON.stringify(standIn)
  const nothing = component === 'QUERY_EDITOR' ? 'never' : 'not set'
  return (
    <p class="control-value is-unset" dir="auto" title={text ? 'What an empty field shows' : undefined}>
      {text || nothing}
    </p>
  )
}

function isSwitch({ schema, value, component }: Field): boolean {
  return schema.type === 'boolean' || typeof value === 'boolean' || component?.endsWith('_SWITCH') === true
}

function Switch({ field: { value, placeholder, schema } }: { field: Field }) {
  const isOn = (value ?? placeholder ?? schema.default) === true
  return (
    <p class="switch">
      <span class={isOn ? 'track is-on' : 'track'} aria-hidden="true" />
      {isOn ? 'on' : 'off'}
      {value === undefined && <span class="hint">not set</span>}
    </p>
  )
}

function Options({ field: { value, placeholder, schema }, options }: { field: Field; options: unknown[] }) {
  const chosen = value ?? schema.default ?? placeholder
  const isOther = value !== undefined && !options.includes(value)
  return (
    <ul class="options">
      {[...options, ...(isOther ? [value] : [])].map((option) => (
        <li
          key={String(option)}
          class={option !== chosen ? undefined : value === undefined ? 'is-preset' : 'is-chosen'}
        >
          {String(option)}
          {option === chosen && <span class="visually-hidden">{value === undefined ? ' (preset)' : ' (chosen)'}</span>}
        </li>
      ))}
    </ul>
  )
}

function Condition({ value }: { value: unknown }) {
  return (
    <p class="control-value" dir="auto">
      <span class="hint">when </span>
      <code>{conditionText(value)}</code>
    </p>
  )
}
