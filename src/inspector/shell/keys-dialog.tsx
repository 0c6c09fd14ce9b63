import { useState } from 'preact/hooks'
import { Dialog } from '../parts/dialog.js'
import { useKey } from '../parts/keys.js'
import { useCommands } from './palette.js'

const KEYS: readonly (readonly [keys: readonly string[], what: string])[] = [
  [['Ctrl K', '⌘ K'], 'Find an action or a record'],
  [['/'], 'Search the list'],
  [['↓', '↑'], 'Walk through the list'],
  [['Enter'], 'Open'],
  [['Esc'], 'Close what is open'],
  [['p'], 'Pause the requests'],
  [['?'], 'Show these keys']
]

/** The keys of the page, once `?` is pressed. */
export function KeysDialog() {
  const [isOpen, setOpen] = useState(false)
  useKey('?', () => setOpen(true))
  useCommands([{ name: 'Show the keys', hint: '?', run: () => setOpen(true) }])
  if (!isOpen) return null
  return (
    <Dialog title="Keys" close={() => setOpen(false)}>
      <dl class="facts">
        {KEYS.map(([keys, what]) => [
          <dt key={what}>
            {keys.map((key) => (
              <kbd key={key}>{key}</kbd>
            ))}
          </dt>,
          <dd key={`${what}:`}>{what}</dd>
        ])}
      </dl>
    </Dialog>
  )
}
