import { CoverageView } from './coverage/coverage.js'
import { FaultsView } from './faults/faults.js'
import { IntegrationsView } from './integrations/integrations.js'
import { MessagesView } from './messages/messages.js'
import { RequestsView } from './requests/requests.js'
import type { View } from './view.js'
import { WorkflowsView } from './workflows/workflows.js'

/** The views in the order in which the page lists them; the first is the one that it opens with. */
export const VIEWS: readonly [View, ...View[]] = [
  { path: 'requests', title: 'Requests', icon: 'requests', View: RequestsView },
  { path: 'messages', title: 'Messages', icon: 'mail', View: MessagesView },
  { path: 'integrations', title: 'Integrations', icon: 'plug', View: IntegrationsView },
  { path: 'workflows', title: 'Workflows', icon: 'flow', View: WorkflowsView },
  { path: 'faults', title: 'Faults', icon: 'bolt', View: FaultsView, isInBar: true },
  { path: 'coverage', title: 'Coverage', icon: 'ring', View: CoverageView }
]
