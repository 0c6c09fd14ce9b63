import { CommanderError } from 'commander'
import { DEFAULTS } from '../config.js'
import { StartError } from '../core/errors.js'

/** Where a server is that was started without flags. */
export const USUAL_URL = `http://${DEFAULTS.host}:${DEFAULTS.port}`

/** In milliseconds: less than a container engine gives its check. */
const TIMEOUT = 2500

/** Resolves when the server says that it is healthy. Rejects with `StartError`, which has what it did instead. */
export async function askHealth(server: string, timeout = TIMEOUT): Promise<void> {
  const url = `${server}/health`
  const ask = async () => {
    const response = await fetch(url, { signal: AbortSignal.timeout(timeout) })
    return { response, text: await response.text() }
  }
  const { response, text } = await ask().catch(({ cause, message }) => {
    throw new StartError(`${url}: no answer: ${cause?.code ?? cause?.message ?? message}`)
  })
  if (!response.ok) throw new StartError(`${url}: answers ${response.status}: ${text.slice(0, 500)}`)
}

/** Returns the URL of a server without a slash at its end; for an argument of a command. */
export function serverUrl(text: string): string {
  return checkedUrl(text, 'the argument')
}

/** A URL that is wrong is not repeated, as it may hold a password. */
function checkedUrl(text: string, name: string): string {
  if (!/^https?:/i.test(text) || !URL.canParse(text)) {
    throw usageError(`${name} must be the URL of a server, such as http://127.0.0.1:4210`)
  }
  const { username, password } = new URL(text)
  if (username !== '' || password !== '' || /[?#]/.test(text)) {
    throw usageError(`${name} must be a URL without user name, password, query and fragment`)
  }
  return text.replace(/\/+$/, '')
}

/** Returns the server that exec, or who runs this, has named in a variable. */
export function urlOfVariable(): string | undefined {
  const url = process.env.NOTIFICATION_MOCK_URL ?? ''
  return url === '' ? undefined : checkedUrl(url, 'NOTIFICATION_MOCK_URL')
}

/** Returns the server that is asked when none is given. */
export function usualServer(): string {
  return urlOfVariable() ?? USUAL_URL
}

function usageError(message: string): CommanderError {
  return new CommanderError(2, 'notification-mock.url', `error: ${message}`)
}
