import { useState } from 'preact/hooks'
import { ErrorNote } from '../parts/errors.js'

interface Props {
  /** Why the server did not list its environments. */
  error: unknown
  /** Asks the server again with what it was given. */
  retry(): void
  withToken(token: string): void
  withKey(key: string): void
}

/** Asks for what opens the server: its admin token, or the key of one environment. */
export function SignIn({ error, retry, withToken, withKey }: Props) {
  return (
    <main class="alone">
      <h1>notification-mock</h1>
      <ErrorNote error={error} retry={retry} />
      <SecretForm
        label="Admin token"
        hint="It was printed when the server started, or given to it by --admin-token. This page keeps it in memory only."
        button="Show all environments"
        submit={withToken}
      />
      <SecretForm
        label="API key of an environment"
        hint="Shows that one environment only."
        button="Show this environment"
        submit={withKey}
      />
    </main>
  )
}

/** A field for a secret, which no history of forms remembers. */
export function SecretForm({
  label,
  hint,
  button,
  submit
}: {
  label: string
  hint: string
  button: string
  submit: (secret: string) => void
}) {
  const [secret, setSecret] = useState('')
  return (
    <form
      class="form"
      onSubmit={(event) => {
        event.preventDefault()
        if (secret.trim() !== '') submit(secret.trim())
      }}
    >
      <label>
        {label}
        <input
          type="password"
          autocomplete="off"
          value={secret}
          onInput={(event) => setSecret(event.currentTarget.value)}
        />
      </label>
      <p class="hint">{hint}</p>
      <button type="submit" class="primary">
        {button}
      </button>
    </form>
  )
}
