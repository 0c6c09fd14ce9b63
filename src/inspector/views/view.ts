import type { FunctionComponent } from 'preact'
import type { Route } from '../shell/router.js'

export interface ViewProps {
  route: Route
}

/** A view of the page, at `#/<path>`. */
export interface View {
  path: string
  title: string
  View: FunctionComponent<ViewProps>
  /** What the list of views shows beside the title. */
  Badge?: FunctionComponent
}
