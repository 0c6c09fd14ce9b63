import { createContext } from 'preact'
import { useContext, useId, useRef, useState } from 'preact/hooks'
import type { InvalidField } from '../../client/index.js'
import { type Fields, kindOf, resolved, type Schema, withField } from './schema.js'
import { TextList } from './text-list.js'
import { WithCode } from './with-code.js'

/** What all fields of a form share. */
export interface FormContext {
  document: Record<string, unknown>
  /** What the server said of fields, by their paths. */
  errors: Readonly<Record<string, InvalidField>>
  /** Values that one may want, by the paths of fields. */
  suggestions: Readonly<Record<string, readonly string[]>>
  showsSecrets: boolean
}

export const Form = createContext<FormContext>({ document: {}, errors: {}, suggestions: {}, showsSecrets: false })

interface FieldProps {
  name: string
  /** As the server writes it, such as `cta.action`. */
  path: string
  schema: Schema
  value: unknown
  isRequired: boolean
  isSecret: boolean
  /** Undefined leaves the field out. */
  change: (value: unknown) => void
}

/** The attributes that a control needs to belong to its label, hint and errors. */
interface ControlProps extends FieldProps {
  id: string
  describedBy: string
  isInvalid: boolean
}

/** The fields of an object, in a grid. */
export function ObjectFields({
  schema,
  names = Object.keys(schema.properties ?? {}),
  path,
  value,
  isSecret = false,
  change
}: {
  schema: Schema
  names?: readonly string[]
  path: string
  value: Fields
  isSecret?: boolean
  change: (value: Fields) => void
}) {
  const { document } = useContext(Form)
  return (
    <div class="fields">
      {names.map((name) => {
        const field = schema.properties?.[name]
        const target = field && resolved(document, field)
        return (
          target && (
            <SchemaField
              key={name}
              name={name}
              path={path ? `${path}.${name}` : name}
              schema={target}
              value={value[name]}
              isRequired={schema.required?.includes(name) ?? false}
              isSecret={isSecret || target.writeOnly === true}
              change={(next) => change(withField(value, name, next))}
            />
          )
        )
      })}
    </div>
  )
}

function SchemaField(props: FieldProps) {
  const { name, path, schema, isRequired } = props
  const { document, errors } = useContext(Form)
  const id = useId()
  const kind = kindOf(document, schema)
  if (kind === 'object') return <ObjectField {...props} />
  // What is wrong inside a list or a JSON text is told at the whole.
  const messages = Object.entries(errors).flatMap(([key, { messages }]) =>
    key === path || key.startsWith(`${path}[`) || key.startsWith(`${path}.`) ? messages : []
  )
  const control = { ...props, id, describedBy: `${id}-hint ${id}-error`, isInvalid: messages.length > 0 }
  const isWide = kind === 'content' || kind === 'json' || isLong(props.value)
  return (
    <div class={isWide ? 'field is-wide' : 'field'}>
      <label for={id}>
        <span>
          {name}
          {isRequired && (
            <span class="required" aria-hidden="true">
              {' *'}
            </span>
          )}
        </span>
      </label>
      {kind === 'choice' || kind === 'flag' ? (
        <ChoiceControl {...control} />
      ) : kind === 'content' || kind === 'json' ? (
        <JsonControl {...control} allowsText={kind === 'content'} />
      ) : kind === 'texts' ? (
        <TextsControl {...control} />
      ) : (
        <TextControl {...control} isNumber={kind === 'number'} />
      )}
      <p id={`${id}-hint`} class="hint">
        <WithCode text={schema.description ?? ''} />
      </p>
      <div id={`${id}-error`} class="field-error">
        {messages.map((text) => (
          <p key={text} dir="auto">
            {text}
          </p>
        ))}
      </div>
    </div>
  )
}

function isLong(value: unknown): boolean {
  return typeof value === 'string' && (value.length > 80 || value.includes('\n'))
}

/** A nested object, folded away unless it is required or holds something that is wrong. */
function ObjectField({ name, path, schema, value, isRequired, isSecret, change }: FieldProps) {
  const { errors } = useContext(Form)
  const [isOpen, setOpen] = useState(isRequired)
  const hasErrors = Object.keys(errors).some((key) => key === path || key.startsWith(`${path}.`))
  const fields = (value ?? {}) as Fields
  const count = Object.keys(fields).length
  return (
    <details class="fold" open={isOpen || hasErrors} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        {name} {count > 0 && <span class="badge">{count}</span>}{' '}
        <span class="hint">
          <WithCode text={schema.description ?? ''} />
        </span>
      </summary>
      {errors[path]?.messages.map((text) => (
        <p key={text} class="field-error" dir="auto">
          {text}
        </p>
      ))}
      {(isOpen || hasErrors) && (
        <ObjectFields
          schema={schema}
          path={path}
          value={fields}
          isSecret={isSecret}
          change={(next) => change(Object.keys(next).length === 0 && value === undefined ? undefined : next)}
        />
      )}
    </details>
  )
}

function ChoiceControl({ id, describedBy, isInvalid, schema, value, isRequired, change }: ControlProps) {
  const values = schema.enum ?? [true, false]
  return (
    <select
      id={id}
      aria-describedby={describedBy}
      aria-invalid={isInvalid}
      required={isRequired}
      value={values.includes(value) ? String(values.indexOf(value)) : ''}
      onChange={({ currentTarget }) =>
        change(currentTarget.value === '' ? undefined : values[Number(currentTarget.value)])
      }
    >
      <option value="">{isRequired ? 'choose…' : '(left out)'}</option>
      {values.map((each, index) => (
        <option key={String(each)} value={String(index)}>
          {String(each)}
        </option>
      ))}
    </select>
  )
}

function TextControl(props: ControlProps & { isNumber: boolean }) {
  const { id, describedBy, isInvalid, path, name, value, isRequired, isSecret, isNumber, change } = props
  const { suggestions, showsSecrets } = useContext(Form)
  // A field of one line would drop the others.
  const isMultiline = useRef(isLong(value)).current
  const shared = {
    id,
    'aria-describedby': describedBy,
    'aria-invalid': isInvalid,
    required: isRequired,
    value: value === undefined || value === null ? '' : String(value),
    dir: 'auto' as const,
    onInput: (event: { currentTarget: { value: string } }) => {
      const text = event.currentTarget.value
      change(text === '' ? undefined : isNumber ? Number(text) : text)
    }
  }
  if (isSecret && !showsSecrets) return <input {...shared} type="password" autocomplete="off" />
  if (isNumber) return <input {...shared} type="number" step="any" />
  if (isMultiline) return <textarea {...shared} rows={4} />
  const isTime = /(At|Date|Until)$/.test(name)
  return (
    <>
      <input
        {...shared}
        type="text"
        autocomplete="off"
        list={`${id}-list`}
        placeholder={isTime ? '2026-02-18T10:00:00Z' : undefined}
      />
      <datalist id={`${id}-list`}>
        {suggestions[path]?.map((each) => (
          <option key={each} value={each} />
        ))}
      </datalist>
    </>
  )
}

function TextsControl({ id, describedBy, name, value, change }: ControlProps) {
  const values = Array.isArray(value) ? value.map(String) : []
  return (
    <TextList
      id={id}
      label={name}
      describedBy={describedBy}
      values={values}
      placeholder="Enter adds one"
      change={(next) => change(next.length === 0 && value === undefined ? undefined : next)}
    />
  )
}

/** A JSON text; what is not JSON keeps the form from being sent. With `allowsText` it is plain text unless one says else. */
function JsonControl(props: ControlProps & { allowsText: boolean }) {
  const { id, describedBy, isInvalid, name, value, isRequired, allowsText, change } = props
  const [isJson, setJson] = useState(!allowsText || (value !== undefined && typeof value !== 'string'))
  const [text, setText] = useState(() =>
    value === undefined ? '' : isJson ? JSON.stringify(value, null, 2) : String(value)
  )
  const read = (area: HTMLTextAreaElement, asJson: boolean) => {
    const wanted = area.value
    setText(wanted)
    area.setCustomValidity('')
    if (wanted.trim() === '' || !asJson) return change(wanted === '' ? undefined : wanted)
    try {
      change(JSON.parse(wanted))
    } catch (error) {
      area.setCustomValidity(`This is not JSON: ${error instanceof Error ? error.message : error}`)
    }
  }
  const area = useRef<HTMLTextAreaElement>(null)
  return (
    <>
      {allowsText && (
        <label class="inline">
          <input
            type="checkbox"
            checked={isJson}
            onChange={(event) => {
              setJson(event.currentTarget.checked)
              if (area.current) read(area.current, event.currentTarget.checked)
            }}
          />
          {name} as JSON
        </label>
      )}
      <textarea
        ref={area}
        id={id}
        rows={Math.min(14, Math.max(3, text.split('\n').length))}
        aria-describedby={describedBy}
        aria-invalid={isInvalid}
        required={isRequired}
        dir={isJson ? 'ltr' : 'auto'}
        spellcheck={false}
        placeholder={isJson ? 'JSON' : undefined}
        value={text}
        onInput={(event) => read(event.currentTarget, isJson)}
      />
    </>
  )
}
