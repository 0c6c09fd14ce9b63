import type { ViewProps } from '../view.js'

export function IntegrationsView(_: ViewProps) {
  return <h1>Integrations</h1>
}
