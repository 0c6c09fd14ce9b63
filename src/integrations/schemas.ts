import { type Static, Type } from '@sinclair/typebox'
import { CHANNELS } from '../core/enums.js'
import { StepFilter } from '../core/step-filter.js'
import { freeObject, namedObject, ref, stringEnum } from '../core/typebox.js'

export const Credentials = namedObject('Credentials', 'Credentials for the provider, which decides which it needs', {
  apiKey: Type.Optional(Type.String()),
  user: Type.Optional(Type.String()),
  secretKey: Type.Optional(Type.String()),
  domain: Type.Optional(Type.String()),
  password: Type.Optional(Type.String()),
  host: Type.Optional(Type.String()),
  port: Type.Optional(Type.String({ description: 'A port number, as a string' })),
  region: Type.Optional(Type.String()),
  accountSid: Type.Optional(Type.String()),
  messageProfileId: Type.Optional(Type.String()),
  token: Type.Optional(Type.String()),
  from: Type.Optional(Type.String()),
  senderName: Type.Optional(Type.String()),
  projectName: Type.Optional(Type.String()),
  applicationId: Type.Optional(Type.String()),
  clientId: Type.Optional(Type.String()),
  baseUrl: Type.Optional(Type.String()),
  webhookUrl: Type.Optional(Type.String()),
  redirectUrl: Type.Optional(Type.String()),
  serviceAccount: Type.Optional(Type.String()),
  ipPoolName: Type.Optional(Type.String()),
  apiKeyRequestHeader: Type.Optional(Type.String()),
  secretKeyRequestHeader: Type.Optional(Type.String()),
  idPath: Type.Optional(Type.String()),
  datePath: Type.Optional(Type.String()),
  apiToken: Type.Optional(Type.String()),
  authenticationTokenKey: Type.Optional(Type.String()),
  instanceId: Type.Optional(Type.String()),
  alertUid: Type.Optional(Type.String()),
  title: Type.Optional(Type.String()),
  imageUrl: Type.Optional(Type.String()),
  state: Type.Optional(Type.String()),
  externalLink: Type.Optional(Type.String()),
  channelId: Type.Optional(Type.String()),
  phoneNumberIdentification: Type.Optional(Type.String()),
  accessKey: Type.Optional(Type.String()),
  appSid: Type.Optional(Type.String()),
  senderId: Type.Optional(Type.String()),
  tenantId: Type.Optional(Type.String()),
  AppIOBaseUrl: Type.Optional(Type.String()),
  secure: Type.Optional(Type.Boolean()),
  requireTls: Type.Optional(Type.Boolean()),
  ignoreTls: Type.Optional(Type.Boolean()),
  hmac: Type.Optional(Type.Boolean()),
  authenticateByToken: Type.Optional(Type.Boolean()),
  tlsOptions: Type.Optional(freeObject('TLS options of the connection to the provider'))
})

export const Configurations = namedObject('Configurations', 'Additional configuration of an integration', {
  inboundWebhookEnabled: Type.Optional(Type.Boolean()),
  inboundWebhookSigningKey: Type.Optional(Type.String())
})

export const Integration = namedObject('Integration', 'The connection of a channel to a delivery provider', {
  _id: Type.Optional(Type.String({ description: 'Generated record identifier' })),
  _environmentId: Type.String({ description: 'Owning environment' }),
  _organizationId: Type.String({ description: 'Owning organization' }),
  name: Type.String({ description: 'Display name' }),
  identifier: Type.String({ description: 'Unique string identifier of the integration' }),
  providerId: Type.String({ description: 'Identifier of the provider' }),
  channel: stringEnum(CHANNELS, { description: 'The channel it delivers on' }),
  credentials: ref(Credentials),
  configurations: Type.Optional(ref(Configurations)),
  active: Type.Boolean({ description: 'Whether the integration processes events and messages' }),
  deleted: Type.Boolean({ description: 'Soft-delete marker' }),
  deletedAt: Type.Optional(Type.String({ description: 'When it was deleted; absent if it was not' })),
  deletedBy: Type.Optional(Type.String({ description: 'Identifier of the user who deleted it' })),
  primary: Type.Boolean({ description: 'Whether it is the primary integration of its channel' }),
  conditions: Type.Optional(
    Type.Array(ref(StepFilter), { description: 'Conditions that influence its behavior', minItems: 0 })
  )
})
export type Integration = Static<typeof Integration>
