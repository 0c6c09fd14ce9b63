import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import { FieldErrors } from '../../parts/form-field.js'
import type { Draft } from './draft.js'
import type { DescribedOperation, Parameter } from './operations.js'

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS']

interface MethodAndPathProps {
  draft: Draft
  change(part: Partial<Draft>): void
  operation: DescribedOperation | undefined
}

/** Shows the operation's method and path. Without an operation, both can be edited. */
export function MethodAndPath({ draft, change, operation }: MethodAndPathProps) {
  if (operation) {
    return (
      <code>
        <span class="muted">{operation.method}</span> {operation.path}
      </code>
    )
  }
  return (
    <div class="method-and-path">
      <label>
        Method
        <select
          value={draft.method}
          onChange={(event) => change({ method: event.currentTarget.value })}
        >
          {METHODS.map((method) => (
            <option key={method}>{method}</option>
          ))}
        </select>
      </label>
      <label>
        Path and query
        <input
          type="text"
          class="mono"
          required
          pattern="/.*"
          title="A path that starts with a slash, such as /v1/events/trigger"
          spellcheck={false}
          value={draft.path}
          onInput={(event) => change({ path: event.currentTarget.value })}
        />
      </label>
    </div>
  )
}

interface FieldProps {
  label: ComponentChildren
  hint: string
  /** Why the value was rejected. */
  messages: readonly string[]
  /** Renders the control with the given `id`. `hintId` is the id of the element with the hint. */
  children(id: string, hintId: string): ComponentChildren
}

/** A label, a control and a hint. */
function Field({ label, hint, messages, children }: FieldProps) {
  const id = useId()
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children(id, `${id}-hint`)}
      <p class="hint" id={`${id}-hint`}>
        {hint}
      </p>
      <FieldErrors id={`${id}-errors`} messages={messages} />
    </div>
  )
}

interface ParameterFieldProps {
  parameter: Parameter
  suggestions: readonly string[]
  messages: readonly string[]
  value: string
  change(value: string): void
}

/**
 * A field for a parameter. It suggests the allowed values but accepts any value, so that a user can
 * see how the server rejects invalid values.
 */
export function ParameterField(props: ParameterFieldProps) {
  const { parameter, suggestions, messages, value, change } = props
  const { name, isRequired, isList, allowedValues, defaultValue } = parameter
  const listId = useId()
  const common = { label: <code>{name}</code>, hint: hintOf(parameter), messages }
  if (isList) return <LinesField {...common} value={value} change={change} />
  const options = allowedValues.length > 0 ? allowedValues : suggestions
  return (
    <Field {...common}>
      {(id, hintId) => (
        <>
          <input
            id={id}
            type="text"
            class="mono"
            aria-describedby={hintId}
            aria-invalid={messages.length > 0}
            list={listId}
            required={isRequired}
            placeholder={defaultValue}
            spellcheck={false}
            autocomplete="off"
            value={value}
            onInput={(event) => change(event.currentTarget.value)}
          />
          <datalist id={listId}>
            {options.map((option) => (
              <option key={option} value={option} />
            ))}
          </datalist>
        </>
      )}
    </Field>
  )
}

function hintOf({ description, isList, allowedValues, range }: Parameter): string {
  const allowed = range ?? allowedValues.join(', ')
  const sentences = [
    description.replaceAll('`', ''),
    isList && 'Write one value per line',
    allowed !== '' && `Allowed: ${allowed}`
  ]
  return sentences.filter(Boolean).join('. ')
}

interface LinesFieldProps extends Omit<FieldProps, 'children'> {
  value: string
  change(value: string): void
}

const MAX_ROWS = 12

/** A field for text with several lines. Its text area is as tall as its text. */
export function LinesField({ value, change, ...field }: LinesFieldProps) {
  return (
    <Field {...field}>
      {(id, hintId) => (
        <textarea
          id={id}
          aria-describedby={hintId}
          aria-invalid={field.messages.length > 0}
          rows={Math.min(MAX_ROWS, value.split('\n').length)}
          spellcheck={false}
          dir="ltr"
          value={value}
          onInput={(event) => change(event.currentTarget.value)}
        />
      )}
    </Field>
  )
}
