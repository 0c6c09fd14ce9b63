import type { Integration } from '../../client/index.js'

/** The channels, in the order in which they are shown. */
export const CHANNELS: readonly Integration['channel'][] = ['email', 'sms', 'in_app', 'chat', 'push']
