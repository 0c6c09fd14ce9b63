import type { ComponentChildren } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import { Dialog } from './dialog.js'
import { ErrorNote } from './error-note.js'
import { formatJson } from './json.js'
import { issuesIn, JsonEditor } from './json-editor.js'

/** The fields of a record. */
export type Fields = Record<string, unknown>

export interface JsonDialogProps {
  title: string
  /** The initial JSON; an empty object by default. */
  value?: object
  /** The text of the submit button; the title by default. */
  button?: string
  /**
   * Receives the fields of the form and the JSON. If it rejects, the errors appear at their lines.
   */
  submit(value: Fields): Promise<unknown>
  close(): void
  /** Form fields for the most common values. With them the JSON starts collapsed. */
  children?: ComponentChildren
}

/** Edits a record as JSON. The server's error messages appear at the lines they refer to. */
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

/** Holds the text of the editor, and submits it together with the fields of the form. */
function useJsonForm({ value = {}, submit, close }: JsonDialogProps) {
  const [text, setText] = useState(() => formatJson(value))
  const [error, setError] = useState<unknown>()
  const [isSubmitting, setSubmitting] = useState(false)
  // Computed when the error arrives only: the lines refer to the text that was submitted.
  const issues = useMemo(() => issuesIn(text, error), [error])
  const onSubmit = async (event: Event) => {
    event.preventDefault()
    const fields = [...new FormData(event.currentTarget as HTMLFormElement)]
    const filledFields = fields.filter(([, content]) => content !== '')
    setSubmitting(true)
    setError(undefined)
    try {
      const json = JSON.parse(text)
      // Issues are placed by line, which needs one field per line.
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
