import type { ViewProps } from '../view.js'

export function FaultsView(_: ViewProps) {
  return <h1>Faults</h1>
}
