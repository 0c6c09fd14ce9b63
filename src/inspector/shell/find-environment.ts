import { type ConnectedMock, type ListedEnvironment, MockError } from '../../client/index.js'

interface Selection {
  /** Undefined if the server doesn't list environments to us. */
  environments: ListedEnvironment[] | undefined
  listed: ListedEnvironment | undefined
  apiKey: string | undefined
}

/**
 * Finds the environment that the URL names, or the first one if it names none. Its API key is the
 * one that the server shows, or else the one that the user entered.
 *
 * Throws `MockError` if the entered key belongs to another environment.
 */
export async function findEnvironment(
  mock: ConnectedMock,
  name: string | null,
  enteredKey: string | undefined
): Promise<Selection> {
  const environments = await listEnvironments(mock, enteredKey)
  const listed = environments?.find(
    (environment) => name === null || [environment.name, environment.environmentId].includes(name)
  )
  const [shownKey] = listed ? await mock.apiKeys(listed.environmentId) : []
  const isMissing = environments !== undefined && listed === undefined
  if (shownKey !== undefined || enteredKey === undefined || isMissing) {
    return { environments, listed, apiKey: shownKey }
  }
  await assertKeyOf(mock, enteredKey, listed?.name ?? name)
  return { environments, listed, apiKey: enteredKey }
}

/** Returns undefined if listing is not allowed, but there is an API key to go on with. */
async function listEnvironments(mock: ConnectedMock, enteredKey: string | undefined) {
  try {
    return await mock.listEnvironments()
  } catch (error) {
    if (enteredKey === undefined) throw error
    return undefined
  }
}

/** Throws if a key belongs to another environment than the named one. */
async function assertKeyOf(mock: ConnectedMock, apiKey: string, name: string | null) {
  const { environment } = await mock.attach(apiKey).coverage()
  // With only a key, an id in the URL can't be compared with the name that the server returns.
  const isId = /^[\da-f]{24}$/.test(name ?? '')
  if (name === null || isId || environment === name) return
  throw new MockError(`This API key belongs to ${environment}, not to ${name}.`, { status: 403 })
}
