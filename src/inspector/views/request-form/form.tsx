import { useRef } from 'preact/hooks'
import { CopyButton } from '../../parts/copy.js'
import { Icon } from '../../parts/icon.js'
import { useShortcut } from '../../parts/keyboard.js'
import { Scroll } from '../../parts/pane.js'
import { useSession } from '../../shell/session.js'
import { ActionButtons } from '../actions.js'
import { toCurl } from '../requests/copy-as.js'
import { canHaveBody, type Draft, DraftError, newDraft, prepareRequest } from './draft.js'
import { LinesField, MethodAndPath, ParameterField } from './fields.js'
import type { DescribedOperation } from './operations.js'
import type { Sending } from './sending.js'
import { useSuggestions } from './suggestions.js'

interface Props {
  draft: Draft
  setDraft(draft: Draft): void
  operations: readonly DescribedOperation[]
  sending: Sending
}

/** The fields of a request, and the buttons to send it and to copy it. */
export function RequestForm({ draft, setDraft, operations, sending }: Props) {
  const { env } = useSession()
  const form = useRef<HTMLFormElement>(null)
  const operation = operations.find(({ id }) => id === draft.operation)
  const prepare = () => prepareRequest(draft, operation)
  const onSubmit = (event: Event) => {
    event.preventDefault()
    if (!sending.isSending) sending.send(prepare)
  }
  useShortcut('ctrl+enter', () => form.current?.requestSubmit())
  return (
    <form ref={form} class="request-fields" aria-label="Request" onSubmit={onSubmit}>
      <Scroll>
        <OperationChoice draft={draft} setDraft={setDraft} operations={operations} />
        <RequestFields
          draft={draft}
          change={(part) => setDraft({ ...draft, ...part })}
          operation={operation}
          messagesOf={(name) => messagesAbout(name, sending)}
        />
      </Scroll>
      <div class="line request-buttons">
        {/* Not `disabled`, because a disabled button loses the focus. */}
        <button type="submit" class="primary" aria-disabled={sending.isSending}>
          <Icon name="send" />
          {sending.isSending ? 'Sending…' : 'Send'}
        </button>
        {sending.isSending && (
          <button type="button" onClick={sending.cancel}>
            Cancel
          </button>
        )}
        <CopyButton text={() => toCurl(env, prepare())}>Copy as curl</CopyButton>
      </div>
    </form>
  )
}

/** Returns why the field or parameter was rejected when the request was last sent. */
function messagesAbout(name: string, { error, sent }: Sending): readonly string[] {
  if (error instanceof DraftError) return error.field === name ? [error.message] : []
  const { errors } = Object(sent?.response.json)
  return Object(errors)[name]?.messages ?? []
}

const OTHER_PATH = 'Another path'

/** Buttons that choose an operation, or let the user enter a method and path. */
function OperationChoice({ draft, setDraft, operations }: Omit<Props, 'sending'>) {
  const current = operations.find(({ id }) => id === draft.operation)
  const choose = (operation: DescribedOperation | undefined) => {
    const { headers, body } = draft
    setDraft({ ...newDraft(operation), headers, body })
  }
  const actions = operations.map((operation) => ({
    name: operation.title,
    run: () => choose(operation)
  }))
  return (
    <ActionButtons
      label="Operation"
      actions={[...actions, { name: OTHER_PATH, run: () => choose(undefined) }]}
      current={current?.title ?? OTHER_PATH}
    />
  )
}

interface FieldsProps {
  draft: Draft
  change(part: Partial<Draft>): void
  operation: DescribedOperation | undefined
  messagesOf(name: string): readonly string[]
}

function RequestFields({ draft, change, operation, messagesOf }: FieldsProps) {
  const suggestions = useSuggestions(draft)
  const { method } = operation ?? draft
  return (
    <>
      <MethodAndPath draft={draft} change={change} operation={operation} />
      {operation?.parameters.map((parameter) => (
        <ParameterField
          key={parameter.name}
          parameter={parameter}
          suggestions={suggestions[parameter.name] ?? parameter.examples}
          messages={messagesOf(parameter.name)}
          value={draft.values[parameter.name] ?? ''}
          change={(value) => change({ values: { ...draft.values, [parameter.name]: value } })}
        />
      ))}
      {operation && (
        <LinesField
          label="Other parameters"
          hint="Write one name=value per line. You can also send misspelled names and empty values."
          messages={messagesOf('otherParameters')}
          value={draft.otherParameters}
          change={(otherParameters) => change({ otherParameters })}
        />
      )}
      <LinesField
        label="Headers"
        hint="Write one “name: value” per line. The API key is added unless you set authorization."
        messages={messagesOf('headers')}
        value={draft.headers}
        change={(headers) => change({ headers })}
      />
      {canHaveBody(method) && (
        <LinesField
          label="Body"
          hint="Sent as JSON unless you set a content-type header."
          messages={messagesOf('body')}
          value={draft.body}
          change={(body) => change({ body })}
        />
      )}
    </>
  )
}
