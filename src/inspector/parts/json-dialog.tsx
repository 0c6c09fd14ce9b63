import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { MockError } from '../../client/index.js'
import { Dialog } from './dialog.js'
import { ErrorNote } from './error-note.js'
import { FieldRow, type FormField, fieldValues } from './form-field.js'
import { formatJson, parseJsonOrText } from './json.js'
import { issuesIn, JsonEditor } from './json-editor.js'

/** A record's fields by name. */
export type Fields = Record<string, unknown>

export interface JsonDialogProps {
  title: string
  /** The object to edit as JSON. Without it, the dialog has only form fields. */
  value?: object
  /** The text of the submit button. Default: the dialog's title. */
  button?: string
  /**
   * Receives the values of the form fields merged with the JSON. The dialog closes if the promise
   * resolves, and shows the error if it rejects.
   */
  submit(value: Fields): Promise<unknown>
  close(): void
  /** Form fields for the most common values. If there are any, the JSON starts collapsed. */
  fields?: readonly FormField[]
}

/**
 * A dialog for editing a record with form fields, as JSON, or both. Shows each error from the
 * server next to its form field or its line of JSON.
 */
export function JsonDialog(props: JsonDialogProps) {
  const { title, value, button = title, close, fields = [] } = props
  const form = useRef<HTMLFormElement>(null)
  const { text, setText, error, messagesOf, issues, isSubmitting, submit } = useJsonForm(props)
  const hasFields = fields.length > 0
  const isPlaced = issues.length > 0 || fields.some(({ name }) => messagesOf(name).length > 0)
  useEffect(() => form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus(), [error])
  return (
    <Dialog title={title} close={close} wide>
      <form ref={form} class="form" data-held="true" onSubmit={submit}>
        {fields.map((field, index) => (
          <FieldRow
            key={field.name}
            field={field}
            messages={messagesOf(field.name)}
            isFocused={index === 0}
          />
        ))}
        {error !== undefined && !isPlaced && <ErrorNote error={error} />}
        {value && (
          <details open={!hasFields || issues.length > 0}>
            <summary>{hasFields ? 'More fields, as JSON' : 'JSON'}</summary>
            <JsonEditor
              text={text}
              setText={setText}
              issues={issues}
              minRows={hasFields ? 4 : 8}
              isFocused={!hasFields}
            />
          </details>
        )}
        <div class="line form-buttons">
          <button type="submit" class="primary" disabled={isSubmitting}>
            {button}
          </button>
          <button type="button" onClick={close}>
            Cancel
          </button>
        </div>
      </form>
    </Dialog>
  )
}

/** Holds the editor's text, and submits it together with the form fields. */
function useJsonForm({ value = {}, fields = [], submit, close }: JsonDialogProps) {
  const [text, setText] = useState(() => formatJson(value))
  const [error, setError] = useState<unknown>()
  const [isSubmitting, setSubmitting] = useState(false)
  // The issues aren't recomputed when the text changes, because their line numbers refer to the
  // submitted text.
  const { messagesOf, issues } = useMemo(() => placeErrors(text, error, fields), [error])
  const onSubmit = async (event: Event) => {
    event.preventDefault()
    const values = fieldValues(event.currentTarget as HTMLFormElement, fields)
    setSubmitting(true)
    setError(undefined)
    try {
      const json = JSON.parse(text)
      // Format the JSON with one field per line, so that each issue gets its field's line.
      setText(formatJson(json))
      await submit({ ...values, ...json })
      close()
    } catch (reason) {
      setError(reason)
    }
    setSubmitting(false)
  }
  return { text, setText, error, messagesOf, issues, isSubmitting, submit: onSubmit }
}

/**
 * Assigns the messages of an error to the form fields and to lines of the JSON. If a field is both
 * in the form and in the JSON, the JSON's value is submitted, so the messages belong to the JSON.
 */
function placeErrors(text: string, error: unknown, fields: readonly FormField[]) {
  const rejected = error instanceof MockError ? error.fields : {}
  const json = Object(parseJsonOrText(text))
  const ownNames = fields.map(({ name }) => name).filter((name) => !Object.hasOwn(json, name))
  const issues = issuesIn(text, error).filter(({ path }) => !ownNames.includes(path))
  const messagesOf = (name: string) =>
    ownNames.includes(name) ? (rejected[name]?.messages ?? []) : []
  return { messagesOf, issues }
}
