/** The secrets that the user entered. */
export type Secrets = Partial<Record<'adminToken' | 'apiKey', string>>

interface Props {
  /** Whether only the API key is missing: the server lists the environment, but not its key. */
  isKeyOnly: boolean
  open(secrets: Secrets): void
}

const TOKEN_HINT =
  'The server printed the token when it started, unless --admin-token set it. ' +
  'The API key is the one your app sends.'
const KEY_HINT =
  "The server can't show this environment's API key: " +
  'of keys from earlier runs it stores only a hash.'

/** Asks for the admin token or an API key. The browser doesn't store either. */
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
          Admin token, for all environments
          <input type="password" name="adminToken" autocomplete="off" />
        </label>
      )}
      <label>
        {isKeyOnly ? 'API key' : 'Or the API key of one environment'}
        <input type="password" name="apiKey" autocomplete="off" />
      </label>
      <p class="hint">{isKeyOnly ? KEY_HINT : TOKEN_HINT} The inspector keeps it in memory only.</p>
      <button class="primary">Open</button>
    </form>
  )
}
