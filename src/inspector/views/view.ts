import type { FunctionComponent } from 'preact'
import type { IconName } from '../parts/icon.js'
import type { Route } from '../shell/router.js'

export interface ViewProps {
  route: Route
}

/** A view of the page, at `#/<path>`. */
export interface View {
  path: string
  title: string
  icon: IconName
  /** Whether the bar leads to it, so that the rail need not. */
  isInBar?: boolean
  View: FunctionComponent<ViewProps>
}
