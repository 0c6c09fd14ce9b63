import type { ComponentChildren } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import { Dialog } from './dialog.js'
import { ErrorNote } from './error-note.js'
import { formatJson } from './json.js'
import { issuesIn, JsonEditor } from './json-editor.js'

/** A record's fields by name. */
export type Fields = Record<string, unknown>

export interface JsonDialogProps {
  title: string
  /** The object to edit; an empty object by default. */
  value?: object
  /** The submit button's text; the dialog's title by default. */
  button?: string
  /**
   * Receives the form fields merged with the JSON. If the promise rejects, each error is shown at
   * the line that it is about.
   */
  submit(value: Fields): Promise<unknown>
  close(): void
  /** Form fields for the most common values. If there are any, the JSON starts collapsed. */
  children?: ComponentChildren
}

/**
 * A dialog for editing a record as JSON. Shows each error from the server next to the JSON line
 * that it is about.
 */
export function JsonDialog(props: JsonDialogProps) {
  const { title, button = title, close, children } = props
  const { text, setText, error, issues, isSubmitting, submit } = useJsonForm(props)
  const hasFields = children !== undefined
  return (
    <Dialog title={title} close={close} wide>
      <form class="form" data-held="true" onSubmit={submit}>
        {children}
        {error !== undefined && issues.length === 0 && <ErrorNote error={error} />}
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
        <div class="line">
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
function useJsonForm({ value = {}, submit, close }: JsonDialogProps) {
  const [text, setText] = useState(() => formatJson(value))
  const [error, setError] = useState<unknown>()
  const [isSubmitting, setSubmitting] = useState(false)
  // The issues aren't recomputed when the text changes, because their line numbers refer to the
  // submitted text.
  const issues = useMemo(() => issuesIn(text, error), [error])
  const onSubmit = async (event: Event) => {
    event.preventDefault()
    const fields = [...new FormData(event.currentTarget as HTMLFormElement)]
    const filledFields = fields.filter(([, content]) => content !== '')
    setSubmitting(true)
    setError(undefined)
    try {
      const json = JSON.parse(text)
      // Format the JSON with one field per line, so that each issue gets its field's line.
      setText(formatJson(json))
      await submit({ ...Object.fromEntries(filledFields), ...json })
      close()
    } catch (reason) {
      setError(reason)
    }
    setSubmitting(false)
  }
  return { text, setText, error, issues, isSubmitting, submit: onSubmit }
}
