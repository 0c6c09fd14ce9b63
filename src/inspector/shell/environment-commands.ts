import type { ListedEnvironment } from '../../client/index.js'
import { copyText } from '../parts/copy.js'
import { useNotices } from '../parts/notices.js'
import { timeText } from '../parts/times.js'
import { useCommands } from './palette.js'
import { environmentAddress, useAction, usePanel } from './panel.js'
import { resetText } from './panels/reset.js'
import { exportState } from './panels/seed.js'
import { go, useRoute } from './router.js'
import { useSession } from './session.js'

/** The palette shows them all at once. */
const MAX_COMMANDS = 50

/** Offers what one does with the environment as a whole in the palette. */
export function useEnvironmentCommands(environments: readonly ListedEnvironment[], reload: () => void): void {
  const { env, listed } = useSession()
  const { view } = useRoute()
  const { open } = usePanel()
  const { act } = useAction({ reload })
  const { run } = useNotices()
  const now = ({ now: time }: { now: string }) => `It is ${timeText(time)} in the environment`
  useCommands([
    { name: 'Copy the API key', run: () => run(() => copyText(env.apiKey), 'Copied') },
    {
      name: 'Reset the environment',
      confirm: {
        question: `Reset ${listed?.name ?? 'the environment'}, with all that changed since its start?`,
        button: 'Reset it'
      },
      run: () => act(() => env.reset(), resetText(listed?.name))
    },
    {
      name: 'Take a snapshot',
      run: () =>
        act(
          () => env.snapshot(),
          ({ name }) => `Taken as ${name}`
        )
    },
    { name: 'Stop the clock', run: () => act(async () => env.clock.set((await env.clock.get()).now), now) },
    { name: 'Advance the clock by an hour', run: () => act(() => env.clock.advance('1h'), now) },
    { name: 'Advance the clock by a day', run: () => act(() => env.clock.advance('1d'), now) },
    { name: "Clock back to the machine's time", run: () => act(() => env.clock.set({ mode: 'wall' }), now) },
    { name: 'Export the state as YAML', run: () => run(() => exportState(env, listed?.name)) },
    { name: 'Load a scenario or a seed', run: () => open('seed') },
    { name: 'Show the profile and its assumptions', run: () => open('profile') },
    { name: 'Show the snapshots', run: () => open('snapshots') },
    ...(listed ? [{ name: 'Create, fork or remove an environment', run: () => open('environments') }] : []),
    ...environments.slice(0, MAX_COMMANDS).map((environment) => ({
      name: `Show environment ${environment.name}`,
      run: () => go(environmentAddress(view, environment))
    }))
  ])
}
