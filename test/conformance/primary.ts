import type { GivenMock } from '../support/mock.js'

/** Returns the `_id` of the primary integration of channel email. */
export async function primaryOf(mock: GivenMock): Promise<string | undefined> {
  const { integrations } = (await mock.get('/_mock/integrations')).json
  const all: { _id: string; channel: string; primary: boolean }[] = integrations
  return all.find(({ channel, primary }) => channel === 'email' && primary)?._id
}
