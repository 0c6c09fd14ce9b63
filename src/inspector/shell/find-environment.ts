import { type ConnectedMock, type ListedEnvironment, MockError } from '../../client/index.js'

interface Selection {
  /** Undefined if the user isn't allowed to list environments. */
  environments: ListedEnvironment[] | undefined
  listed: ListedEnvironment | undefined
  apiKey: string | undefined
}

/**
 * Finds the environment that the URL names, or the first one if the URL names none. Uses the API
 * key that the server shows or, if it shows none, the key that the user entered. A removed
 * environment has no key.
 *
 * Throws `MockError` if the entered key belongs to another environment.
 */
export async function findEnvironment(
  mock: ConnectedMock,
  name: string | null,
  enteredKey: string | undefined
): Promise<Selection> {
  const environments = await listEnvironments(mock, enteredKey)
  const listed = environments && findListed(environments, name)
  if (listed?.removed) return { environments, listed, apiKey: undefined }
  const [shownKey] = listed ? await mock.apiKeys(listed.environmentId) : []
  const isMissing = environments !== undefined && listed === undefined
  if (shownKey !== undefined || enteredKey === undefined || isMissing) {
    return { environments, listed, apiKey: shownKey }
  }
  await assertKeyOf(mock, enteredKey, listed?.name ?? name)
  return { environments, listed, apiKey: enteredKey }
}

/** Prefers an environment that exists to a removed environment with the same name. */
function findListed(
  environments: readonly ListedEnvironment[],
  name: string | null
): ListedEnvironment | undefined {
  const existing = environments.filter(({ removed }) => !removed)
  if (name === null) return existing[0]
  const isNamed = (environment: ListedEnvironment) =>
    [environment.name, environment.environmentId].includes(name)
  return existing.find(isNamed) ?? environments.findLast(isNamed)
}

/**
 * Lists the environments and the removed tests. Returns undefined if that fails but the user
 * entered an API key.
 */
async function listEnvironments(mock: ConnectedMock, enteredKey: string | undefined) {
  try {
    return await mock.listEnvironments({ removed: 'include' })
  } catch (error) {
    if (enteredKey === undefined) throw error
    return undefined
  }
}

/** Throws if a key doesn't belong to the named environment. */
async function assertKeyOf(mock: ConnectedMock, apiKey: string, name: string | null) {
  const { environment } = await mock.attach(apiKey).coverage()
  // This response contains the environment's name but not its id, so an id in the URL can't be
  // checked.
  const isId = /^[\da-f]{24}$/.test(name ?? '')
  if (name === null || isId || environment === name) return
  throw new MockError(`This API key belongs to ${environment}, not to ${name}.`, { status: 403 })
}
