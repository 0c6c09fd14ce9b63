import { CoverageView } from './coverage/coverage.js'
import { FaultsView } from './faults/faults.js'
import { FaultsBadge } from './faults/state.js'
import { IntegrationsView } from './integrations/integrations.js'
import { MessagesView } from './messages/messages.js'
import { RequestsView } from './requests/requests.js'
import type { View } from './view.js'
import { WorkflowsView } from './workflows/workflows.js'

/** The views in the order in which the page lists them; the first is the one that it opens with. */
export const VIEWS: readonly [View, ...View[]] = [
  { path: 'requests', title: 'Requests', View: RequestsView },
  { path: 'messages', title: 'Messages', View: MessagesView },
  { path: 'integrations', title: 'Integrations', View: IntegrationsView },
  { path: 'workflows', title: 'Workflows', View: WorkflowsView },
  { path: 'faults', title: 'Faults', View: FaultsView, Badge: FaultsBadge },
  { path: 'coverage', title: 'Coverage', View: CoverageView }
]
