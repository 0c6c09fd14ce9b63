import { useState } from 'preact/hooks'
import './text-list.css'

interface Props {
  id?: string | undefined
  label: string
  values: readonly string[]
  change: (values: string[]) => void
  placeholder?: string | undefined
  describedBy?: string | undefined
}

/** A field for several texts: Enter adds one, Backspace in the empty field takes the last one away. */
export function TextList({ id, label, values, change, placeholder, describedBy }: Props) {
  const [text, setText] = useState('')
  const add = () => {
    if (text === '') return
    if (!values.includes(text)) change([...values, text])
    setText('')
  }
  return (
    <div class="text-list">
      {values.map((value, index) => (
        <span key={value} class="badge">
          <span dir="auto">{value}</span>
          <button
            type="button"
            class="quiet"
            aria-label={`Remove ${value}`}
            onClick={() => change(values.filter((_, other) => other !== index))}
          >
            ×
          </button>
        </span>
      ))}
      <input
        id={id}
        type="text"
        aria-label={label}
        aria-describedby={describedBy}
        dir="auto"
        value={text}
        placeholder={placeholder}
        onInput={(event) => setText(event.currentTarget.value)}
        onBlur={add}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && text !== '') {
            event.preventDefault()
            add()
          } else if (event.key === 'Backspace' && text === '' && values.length > 0) {
            change(values.slice(0, -1))
          }
        }}
      />
    </div>
  )
}
