/** The admin token and the API key that the user entered. */
export type Secrets = Partial<Record<'adminToken' | 'apiKey', string>>

interface Props {
  /** Whether to ask only for the API key. Set if the server lists the environment without a key. */
  isKeyOnly: boolean
  open(secrets: Secrets): void
}

const TOKEN_HINT =
  "If you didn't set an admin token with --admin-token, the server printed one when it started. " +
  'The API key is the one your app sends.'
const KEY_HINT =
  "The server can't show this environment's API key. " +
  'The key is from an earlier run, and the server stored only its hash.'

/** A form for the admin token or an API key. The browser doesn't store what the user enters. */
export function SignIn({ isKeyOnly, open }: Props) {
  const onSubmit = (event: Event) => {
    event.preventDefault()
    const fields = [...new FormData(event.currentTarget as HTMLFormElement)]
    const secrets = fields.map(([name, secret]) => [name, String(secret).trim() || undefined])
    open(Object.fromEntries(secrets))
  }
  return (
    <form class="form" onSubmit={onSubmit}>
      {!isKeyOnly && (
        <label>
          Admin token (for all environments)
          <input type="password" name="adminToken" autocomplete="off" />
        </label>
      )}
      <label>
        {isKeyOnly ? 'API key' : 'Or the API key of one environment'}
        <input type="password" name="apiKey" autocomplete="off" />
      </label>
      <p class="hint">{isKeyOnly ? KEY_HINT : TOKEN_HINT} Your input is kept only in memory.</p>
      <button class="primary">Open</button>
    </form>
  )
}
