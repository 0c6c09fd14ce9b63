import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
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
  /** Returns the control with this id, and with this id of its description. */
  children(id: string, hintId: string): ComponentChildren
}

/** A label, a control and a hint. */
function Field({ label, hint, children }: FieldProps) {
  const id = useId()
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children(id, `${id}-hint`)}
      <p class="hint" id={`${id}-hint`}>
        {hint}
      </p>
    </div>
  )
}

interface ParameterFieldProps {
  parameter: Parameter
  suggestions: readonly string[]
  value: string
  change(value: string): void
}

/**
 * A field for a parameter. It lists the allowed values, but it also accepts others, so that a user
 * can see how the server rejects them.
 */
export function ParameterField({ parameter, suggestions, value, change }: ParameterFieldProps) {
  const { name, isRequired, isList, allowedValues, defaultValue } = parameter
  const listId = useId()
  const options = allowedValues.length > 0 ? allowedValues : suggestions
  return (
    <Field label={<code>{name}</code>} hint={hintOf(parameter)}>
      {(id, hintId) =>
        isList ? (
          <Lines id={id} hintId={hintId} value={value} change={change} />
        ) : (
          <>
            <input
              id={id}
              type="text"
              class="mono"
              aria-describedby={hintId}
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
  value: string
  change(value: string): void
}

/** A field for text with several lines. */
export function LinesField({ label, hint, value, change }: LinesFieldProps) {
  return (
    <Field label={label} hint={hint}>
      {(id, hintId) => <Lines id={id} hintId={hintId} value={value} change={change} />}
    </Field>
  )
}

interface LinesProps extends Pick<LinesFieldProps, 'value' | 'change'> {
  id: string
  hintId: string
}

const MAX_ROWS = 12

/** A text area that is as high as its text. */
function Lines({ id, hintId, value, change }: LinesProps) {
  return (
    <textarea
      id={id}
      aria-describedby={hintId}
      rows={Math.min(MAX_ROWS, value.split('\n').length)}
      spellcheck={false}
      dir="ltr"
      value={value}
      onInput={(event) => change(event.currentTarget.value)}
    />
  )
}
