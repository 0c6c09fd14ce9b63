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
  /** Returns the control with this id, and with this id of its description. */
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
 * A field for a parameter. It lists the allowed values, but it also accepts others, so that a user
 * can see how the server rejects them.
 */
export function ParameterField(props: ParameterFieldProps) {
  const { parameter, suggestions, messages, value, change } = props
  const { name, isRequired, isList, allowedValues, defaultValue } = parameter
  const listId = useId()
  const options = allowedValues.length > 0 ? allowedValues : suggestions
  return (
    <Field label={<code>{name}</code>} hint={hintOf(parameter)} messages={messages}>
      {(id, hintId) =>
        isList ? (
          <Lines
            id={id}
            hintId={hintId}
            isInvalid={messages.length > 0}
            value={value}
            change={change}
          />
        ) : (
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
        )
      }
    </Field>
  )
}

function hintOf({ description, isList, allowedValues, range }: Parameter): string {
  const allowed = range ?? allowedValues.join(', ')
  const sentences = [
    description.replaceAll('`', ''),
    isList && 'Write one value in each line',
    allowed !== '' && `Allowed: ${allowed}`
  ]
  return sentences.filter(Boolean).join('. ')
}

interface LinesFieldProps {
  label: string
  hint: string
  messages: readonly string[]
  value: string
  change(value: string): void
}

/** A field for text with several lines. */
export function LinesField({ label, hint, messages, value, change }: LinesFieldProps) {
  return (
    <Field label={label} hint={hint} messages={messages}>
      {(id, hintId) => (
        <Lines
          id={id}
          hintId={hintId}
          isInvalid={messages.length > 0}
          value={value}
          change={change}
        />
      )}
    </Field>
  )
}

interface LinesProps extends Pick<LinesFieldProps, 'value' | 'change'> {
  id: string
  hintId: string
  isInvalid: boolean
}

const MAX_ROWS = 12

/** A text area that is as high as its text. */
function Lines({ id, hintId, isInvalid, value, change }: LinesProps) {
  return (
    <textarea
      id={id}
      aria-describedby={hintId}
      aria-invalid={isInvalid}
      rows={Math.min(MAX_ROWS, value.split('\n').length)}
      spellcheck={false}
      dir="ltr"
      value={value}
      onInput={(event) => change(event.currentTarget.value)}
    />
  )
}
