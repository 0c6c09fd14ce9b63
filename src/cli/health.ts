import { InvalidArgumentError } from 'commander'
import { StartError } from '../core/errors.js'

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
  if (!/^https?:/i.test(text) || !URL.canParse(text)) {
    throw new InvalidArgumentError('It must be the URL of a server, such as http://127.0.0.1:4210.')
  }
  return text.replace(/\/+$/, '')
}

/** Returns the server that exec, or who runs this, has named in a variable. */
export function urlOfVariable(): string | undefined {
  const url = process.env.NOTIFICATION_MOCK_URL ?? ''
  return url === '' ? undefined : serverUrl(url)
}
