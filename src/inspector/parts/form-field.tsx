import { useEffect, useId, useRef } from 'preact/hooks'
import { useResource } from './resource.js'

/** A form field. `name` is the key of its value in the result of `fieldValues`. */
export interface FormField {
  name: string
  label: string
  hint?: string
  /**
   * The kind of control: a text area (`lines`), a number, a date and time in UTC (`time`), or a
   * choice between the options (`select`, `radio`). By default, a line of text.
   */
  kind?: 'lines' | 'number' | 'time' | 'select' | 'radio'
  /** The initial value; in ISO 8601 format for a `time` field. */
  value?: string | undefined
  /** The largest allowed number. */
  max?: number
  /** The values of a `select` or a `radio`. */
  options?: readonly string[]
  /** Loads the suggestions for a line of text. */
  suggest?(): Promise<readonly string[]>
}

/**
 * Returns the values of the form's fields by name. Skips empty fields. The values of number fields
 * are numbers, and times are in ISO format.
 */
export function fieldValues(form: HTMLFormElement, fields: readonly FormField[]) {
  const data = new FormData(form)
  const values = fields.map(({ name, kind }) => [name, parseValue(`${data.get(name) ?? ''}`, kind)])
  return Object.fromEntries(values.filter(([, value]) => value !== undefined))
}

function parseValue(text: string, kind: FormField['kind']): string | number | undefined {
  if (text === '') return undefined
  if (kind === 'number') return Number(text)
  const time = kind === 'time' ? new Date(`${text}Z`) : undefined
  // Browsers accept years that `Date` can't represent. Submit such a value as it was entered, so
  // that the server reports an error for the field.
  return time && !Number.isNaN(time.getTime()) ? time.toISOString() : text
}

interface Props {
  field: FormField
  messages: readonly string[]
  /** Whether the field gets the focus when the dialog opens. */
  isFocused: boolean
}

/** A field with its label, its hint, and the reasons why its value was rejected. */
export function FieldRow({ field, messages, isFocused }: Props) {
  const id = useId()
  const { label, hint, kind } = field
  const control = <Control field={field} id={id} messages={messages} isFocused={isFocused} />
  return (
    <div class="field">
      {kind === 'radio' ? <b>{label}</b> : <label for={id}>{label}</label>}
      {control}
      {hint && <p class="hint">{hint}</p>}
      <FieldErrors id={`${id}-errors`} messages={messages} />
    </div>
  )
}

/** The reasons why a field's value was rejected. The form scrolls to the first of its errors. */
export function FieldErrors({ id, messages }: { id: string; messages: readonly string[] }) {
  const element = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const first = element.current
      ?.closest('form')
      ?.querySelector('.field > [role="alert"]:not(:empty)')
    if (messages.length > 0 && first === element.current)
      first?.scrollIntoView({ block: 'nearest' })
    // Compare the text of the messages, because each render of the form creates a new array.
  }, [messages.join('\n')])
  return (
    <div ref={element} class="toned is-bad" id={id} role="alert">
      {messages.map((text) => (
        <p key={text} dir="auto">
          {text}
        </p>
      ))}
    </div>
  )
}

function Control({ field, id, messages, isFocused }: Props & { id: string }) {
  const { name, label, kind, value, max, options = [] } = field
  const common = {
    id,
    name,
    autofocus: isFocused,
    'aria-invalid': messages.length > 0,
    'aria-describedby': `${id}-errors`
  }
  switch (kind) {
    case 'lines':
      return <textarea {...common} dir="auto" />
    case 'number':
      return <input {...common} type="number" min="1" max={max} defaultValue={value} />
    case 'time':
      return <input {...common} type="datetime-local" step="1" defaultValue={value?.slice(0, 19)} />
    case 'select':
      return (
        <select {...common} defaultValue={value}>
          {options.map((option) => (
            <option key={option}>{option}</option>
          ))}
        </select>
      )
    case 'radio':
      return <Radios label={label} name={name} options={options} value={value} />
    default:
      return <TextInput common={common} field={field} />
  }
}

function TextInput({ common, field }: { common: { id: string }; field: FormField }) {
  const { value, suggest } = field
  // Ignore loading errors, because users can type any value without suggestions.
  const { value: suggestions = [] } = useResource(async () => suggest?.() ?? [], [])
  return (
    <>
      <input {...common} dir="auto" list={`${common.id}-list`} defaultValue={value} />
      <datalist id={`${common.id}-list`}>
        {suggestions.map((suggestion) => (
          <option key={suggestion} value={suggestion} />
        ))}
      </datalist>
    </>
  )
}

function Radios({ label, name, options = [], value }: FormField) {
  return (
    <div class="line" role="radiogroup" aria-label={label}>
      {options.map((option) => (
        <label key={option} class="line">
          <input type="radio" name={name} value={option} defaultChecked={option === value} />
          {option}
        </label>
      ))}
    </div>
  )
}
