import { type ConnectedMock, type ListedEnvironment, MockError } from '../../client/index.js'

interface Selection {
  /** Undefined if listing the environments failed. */
  environments: ListedEnvironment[] | undefined
  listed: ListedEnvironment | undefined
  apiKey: string | undefined
}

/**
 * Finds an environment by the name or id in the URL, or the first environment if `name` is null.
 * Also returns its API key if the server knows the key, or else the key that the user entered.
 * Returns no key for a removed environment.
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

/** Returns a removed environment only if no existing environment has the name or id. */
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
 * Lists the environments, including removed ones. If that fails and the user has entered an API
 * key, returns undefined instead of throwing.
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
