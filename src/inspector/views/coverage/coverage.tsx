import type { ViewProps } from '../view.js'

export function CoverageView(_: ViewProps) {
  return <h1>Coverage</h1>
}
