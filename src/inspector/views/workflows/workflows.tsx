import type { ViewProps } from '../view.js'

export function WorkflowsView(_: ViewProps) {
  return <h1>Workflows</h1>
}
