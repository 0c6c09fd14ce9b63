import type { Channel } from '../../core/enums.js'
import type { EnvironmentData } from '../environment-data.js'

/** What messages are made of. */
export type Environment = Pick<
  EnvironmentData,
  'id' | 'organizationId' | 'name' | 'integrations' | 'subscribers' | 'workflows' | 'steps' | 'messages'
>

/** For channels that the environment has no integration of. */
export const PROVIDERS: Record<Channel, string> = {
  in_app: 'novu',
  email: 'sendgrid',
  sms: 'twilio',
  chat: 'slack',
  push: 'fcm'
}

export const WHATSAPP = 'whatsapp-business'

/** Those in use, the primary first; `usual` are all of them where none is in use. */
export function integrationsOf(integrations: EnvironmentData['integrations'], channel: Channel) {
  const present = integrations.filter((each) => each.channel === channel && !each.deleted)
  const active = present.filter((each) => each.active).sort((one, other) => Number(other.primary) - Number(one.primary))
  return { active, usual: active.length > 0 ? active : present }
}
