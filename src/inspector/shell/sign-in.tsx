/** The admin token and the API key that the user entered. */
export type Secrets = Partial<Record<'adminToken' | 'apiKey', string>>

interface Props {
  /**
   * Whether to prompt only for the API key, because the server lists the environment without its
   * key.
   */
  isKeyOnly: boolean
  open(secrets: Secrets): void
}

const TOKEN_HINT =
  'The server printed the admin token when it started, unless you set it with --admin-token. ' +
  'The API key is the one your app sends.'
const KEY_HINT =
  "The server can't show this environment's API key, " +
  'because it stores only a hash of keys from earlier runs.'

/** A form for the admin token or an API key. The browser stores neither of them. */
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
      <p class="hint">
        {isKeyOnly ? KEY_HINT : TOKEN_HINT} The inspector keeps what you enter only in memory.
      </p>
      <button class="primary">Open</button>
    </form>
  )
}
