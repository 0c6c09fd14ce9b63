import { CoverageView } from './coverage/coverage.js'
import { IntegrationsView } from './integrations/integrations.js'
import { MessagesView } from './messages/messages.js'
import { RequestsView } from './requests/requests.js'
import { WorkflowsView } from './workflows/workflows.js'

/** The views, each at `#/<path>`, in the order in which the page lists them; it opens with the first. */
export const VIEWS = [
  { path: 'requests', title: 'Requests', icon: 'requests', View: RequestsView },
  { path: 'messages', title: 'Messages', icon: 'mail', View: MessagesView },
  { path: 'integrations', title: 'Integrations', icon: 'plug', View: IntegrationsView },
  { path: 'workflows', title: 'Workflows', icon: 'flow', View: WorkflowsView },
  { path: 'coverage', title: 'Coverage', icon: 'ring', View: CoverageView }
] as const
