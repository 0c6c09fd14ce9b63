import type { ListedEnvironment } from '../../client/index.js'
import { CoverageView } from './coverage/coverage.js'
import { IntegrationsView } from './integrations/integrations.js'
import { MessagesView } from './messages/messages.js'
import { ReplayView } from './replay/replay-view.js'
import { RequestsView } from './requests/requests.js'
import { WorkflowsView } from './workflows/workflows.js'

const VIEWS = [
  { path: 'requests', title: 'Requests', icon: 'requests', View: RequestsView },
  { path: 'messages', title: 'Messages', icon: 'mail', View: MessagesView },
  { path: 'integrations', title: 'Integrations', icon: 'plug', View: IntegrationsView },
  { path: 'workflows', title: 'Workflows', icon: 'flow', View: WorkflowsView },
  { path: 'coverage', title: 'Coverage', icon: 'ring', View: CoverageView }
] as const

const VIEWS_OF_REOPENED_TEST = [
  { path: 'replay', title: 'Replay', icon: 'again', View: ReplayView },
  ...VIEWS
] as const

/**
 * Returns the views in navigation order. A view's URL is `#/<path>`. The first view is the default.
 */
export function viewsOf(listed: ListedEnvironment | undefined) {
  return listed?.reopenedTest === undefined ? VIEWS : VIEWS_OF_REOPENED_TEST
}
