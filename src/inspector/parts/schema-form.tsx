import { useEffect, useRef, useState } from 'preact/hooks'
import { type InvalidField, MockError } from '../../client/index.js'
import { useSession } from '../shell/session.js'
import { ErrorNote } from './errors.js'
import { useResource } from './resource.js'
import { bodySchema, differences, type Fields, type Schema } from './schema.js'
import { Form, type FormContext, ObjectFields } from './schema-fields.js'
import './schema-form.css'

interface Props {
  /** The operation of the control document that the fields are sent to, such as `addMessage`. */
  operation: string
  /** The record to change, which the form begins with. */
  record?: Fields
  /** The fields to show at once; all others are folded away. */
  main: readonly string[]
  suggestions?: FormContext['suggestions']
  button: string
  /** Gets the fields filled in, or of a record those that differ, null for one taken away. May reject with what is wrong. */
  submit: (fields: Fields) => Promise<unknown>
}

/** A form for the body of an operation, from the schema that the server checks it by. */
export function SchemaForm(props: Props) {
  const { mock } = useSession()
  const { value: document, error, reload } = useResource(() => mock.controlDocument(), [mock])
  if (error !== undefined) return <ErrorNote error={error} retry={reload} />
  if (!document) return <p class="loading">Loading…</p>
  return <LoadedForm {...props} document={document} schema={bodySchema(document, props.operation)} />
}

interface LoadedProps extends Props {
  document: Record<string, unknown>
  schema: Schema
}

function LoadedForm({ document, schema, record, main, suggestions = {}, button, submit }: LoadedProps) {
  const known = Object.keys(schema.properties ?? {})
  const [initial] = useState(() =>
    Object.fromEntries(Object.entries(record ?? {}).filter(([name]) => known.includes(name)))
  )
  const [fields, setFields] = useState<Fields>(initial)
  const [error, setError] = useState<unknown>()
  const [isBusy, setBusy] = useState(false)
  const [showsSecrets, setShowsSecrets] = useState(false)
  const form = useRef<HTMLFormElement>(null)
  const errors = error instanceof MockError ? error.fields : {}
  const others = known.filter((name) => !main.includes(name))
  const result = record ? differences(initial, fields) : fields
  useEffect(() => {
    form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus()
  }, [error])
  const send = async (event: Event) => {
    event.preventDefault()
    setBusy(true)
    try {
      await submit(result)
    } catch (reason) {
      setError(reason)
    }
    setBusy(false)
  }
  return (
    <Form.Provider value={{ document, errors, suggestions, showsSecrets }}>
      <form ref={form} class="schema-form" data-held={record !== undefined} onSubmit={send}>
        {error !== undefined && <FormError error={error} known={known} />}
        <ObjectFields schema={schema} names={main} path="" value={fields} change={setFields} />
        <MoreFields errors={errors} names={others}>
          <ObjectFields schema={schema} names={others} path="" value={fields} change={setFields} />
        </MoreFields>
        <div class="row form-foot">
          <button type="submit" disabled={isBusy || (record !== undefined && Object.keys(result).length === 0)}>
            {button}
          </button>
          {record && Object.keys(result).length > 0 && (
            <span class="hint">Changes {Object.keys(result).join(', ')}</span>
          )}
          {hasSecrets(schema) && (
            <label class="inline spread">
              <input
                type="checkbox"
                checked={showsSecrets}
                onChange={(event) => setShowsSecrets(event.currentTarget.checked)}
              />
              Show secret values
            </label>
          )}
        </div>
      </form>
    </Form.Provider>
  )
}

function hasSecrets({ properties = {} }: Schema): boolean {
  return Object.values(properties).some(({ writeOnly }) => writeOnly)
}

/** What the server said that no field shows. */
function FormError({ error, known }: { error: unknown; known: readonly string[] }) {
  if (!(error instanceof MockError)) return <ErrorNote error={error} />
  const fields = Object.entries(error.fields)
  const others = fields.filter(([path]) => !known.includes(/^[^.[]*/.exec(path)?.[0] ?? ''))
  if (others.length === fields.length) return <ErrorNote error={error} />
  const note = new MockError(error.message, { fields: Object.fromEntries(others) })
  return others.length > 0 ? (
    <ErrorNote error={note} />
  ) : (
    <p class="error-note" role="alert">
      See the fields marked below.
    </p>
  )
}

function MoreFields({
  errors,
  names,
  children
}: {
  errors: Readonly<Record<string, InvalidField>>
  names: readonly string[]
  children: preact.ComponentChildren
}) {
  const [isOpen, setOpen] = useState(false)
  const hasErrors = Object.keys(errors).some((path) => names.includes(/^[^.[]*/.exec(path)?.[0] ?? ''))
  return (
    <details class="fold" open={isOpen || hasErrors} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>More fields ({names.length})</summary>
      {(isOpen || hasErrors) && children}
    </details>
  )
}
