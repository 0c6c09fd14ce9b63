import type { ListedEnvironment } from '../../client/index.js'
import { copyText } from '../parts/copy.js'
import { timeText } from '../parts/times.js'
import { useToasts } from '../parts/toast.js'
import { useCommands } from './palette.js'
import { environmentAddress, usePanel } from './panel.js'
import { useReset } from './panels/environment-menu.js'
import { snapshotName } from './panels/go-back.js'
import { exportState } from './panels/seed.js'
import { go, useRoute } from './router.js'
import { useSession } from './session.js'

/** The palette shows them all at once. */
const MAX_COMMANDS = 50

/** Offers what one does with the environment as a whole in the palette. */
export function useEnvironmentCommands(environments: readonly ListedEnvironment[]): void {
  const { env, listed, changed } = useSession()
  const { view } = useRoute()
  const { open } = usePanel()
  const { run, tell } = useToasts()
  const reset = useReset()
  const act = async <Result>(action: () => Promise<Result>, words: (result: Result) => string) => {
    const done = await run(action)
    if (!done) return
    changed()
    tell(words(done))
  }
  const now = ({ now: time }: { now: string }) => `It is ${timeText(time)} in the environment`
  const { clock } = env
  useCommands([
    { name: 'Copy the API key', run: () => run(() => copyText(env.apiKey), 'Copied') },
    { name: 'Reset the environment', run: reset },
    {
      name: 'Take a snapshot',
      run: () =>
        act(
          () => env.snapshot(snapshotName()),
          ({ name }) => `Took the snapshot ${name}`
        )
    },
    { name: 'Stop the clock', run: () => act(async () => clock.set((await clock.get()).now), now) },
    { name: 'Advance the clock by an hour', run: () => act(() => clock.advance('1h'), now) },
    { name: 'Advance the clock by a day', run: () => act(() => clock.advance('1d'), now) },
    { name: "Clock back to the machine's time", run: () => act(() => clock.set({ mode: 'wall' }), now) },
    { name: 'Export the state as YAML', run: () => run(() => exportState(env, listed?.name)) },
    { name: 'Load a scenario or a seed', run: () => open('seed') },
    { name: 'Show the profile and its assumptions', run: () => open('profile') },
    { name: 'Show snapshots, and what has changed', run: () => open('snapshots') },
    ...(listed ? [{ name: 'Make, fork or remove an environment', run: () => open('environments') }] : []),
    ...environments.slice(0, MAX_COMMANDS).map((environment) => ({
      name: `Show environment ${environment.name}`,
      run: () => go(environmentAddress(view, environment))
    }))
  ])
}
