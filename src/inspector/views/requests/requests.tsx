import type { ViewProps } from '../view.js'

export function RequestsView(_: ViewProps) {
  return <h1>Requests</h1>
}
