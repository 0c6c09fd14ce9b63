import { CoverageView } from './coverage/coverage.js'
import { IntegrationsView } from './integrations/integrations.js'
import { MessagesView } from './messages/messages.js'
import { RequestsView } from './requests/requests.js'
import { WorkflowsView } from './workflows/workflows.js'

/**
 * The views in the order of the navigation. Each has the URL `#/<path>`. The first is the default.
 */
export const VIEWS = [
  { path: 'requests', title: 'Requests', icon: 'requests', View: RequestsView },
  { path: 'messages', title: 'Messages', icon: 'mail', View: MessagesView },
  { path: 'integrations', title: 'Integrations', icon: 'plug', View: IntegrationsView },
  { path: 'workflows', title: 'Workflows', icon: 'flow', View: WorkflowsView },
  { path: 'coverage', title: 'Coverage', icon: 'ring', View: CoverageView }
] as const
