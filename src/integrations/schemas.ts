import { type Static, Type } from '@sinclair/typebox'
import { Channel, StepFilter } from '../schema/shared.js'
import { freeObject, namedObject, ref } from '../schema/typebox.js'

const text = (description: string) => Type.Optional(Type.String({ description }))
const flag = (description: string) => Type.Optional(Type.Boolean({ description }))

export const Credentials = namedObject(
  'CredentialsDto',
  'Credentials for the delivery provider. Each provider needs only some of these fields',
  {
    apiKey: text('API key'),
    user: text('User name'),
    secretKey: text('Secret key or signing secret'),
    domain: text('Domain that messages are sent from'),
    password: text('Password of the user'),
    host: text('Host name of the mail server'),
    port: text('Port number, as a string'),
    region: text("Region of the provider's data center"),
    accountSid: text('Identifier of the account at the provider'),
    messageProfileId: text('Identifier of the messaging profile'),
    token: text('Authentication token'),
    from: text('Address or phone number from which messages are sent'),
    senderName: text('Name of the sender'),
    projectName: text('Name of the project'),
    applicationId: text('Identifier of the application at the provider'),
    clientId: text('OAuth client identifier of the application'),
    baseUrl: text("Base URL of the provider's API"),
    webhookUrl: text('URL that messages are posted to'),
    redirectUrl: text('URL that users return to after they authorize the application'),
    serviceAccount: text('Service account as a JSON string'),
    ipPoolName: text('Name of the pool of IP addresses to send from'),
    apiKeyRequestHeader: text('Name of the request header that carries the API key'),
    secretKeyRequestHeader: text('Name of the request header that carries the secret key'),
    idPath: text("Path to the message's identifier in the provider's response"),
    datePath: text("Path to the date in the provider's response"),
    apiToken: text('API token'),
    authenticationTokenKey: text(
      'Name of the request header that carries the authentication token'
    ),
    instanceId: text('Identifier of the instance at the provider'),
    alertUid: text('Identifier of the alert'),
    title: text('Title of the alert'),
    imageUrl: text('URL of an image for the alert'),
    state: text('State of the alert'),
    externalLink: text('URL to which the alert links'),
    channelId: text('Identifier of the channel to send to'),
    phoneNumberIdentification: text('Identifier of the phone number from which messages are sent'),
    accessKey: text('Access key'),
    appSid: text('Identifier of the application, called app SID by the provider'),
    senderId: text('Identifier of the sender at the provider'),
    tenantId: text('Identifier of the tenant at the provider'),
    AppIOBaseUrl: text('Base URL of the Appio API'),
    secure: flag('Whether the connection uses TLS from the start'),
    requireTls: flag('Whether an unencrypted connection must be upgraded to TLS'),
    ignoreTls: flag('Whether the connection stays unencrypted even if the server offers TLS'),
    hmac: flag('Whether the subscriber identifier must be signed with HMAC'),
    authenticateByToken: flag('Whether to fetch a token first and send it with each request'),
    tlsOptions: Type.Optional(freeObject('TLS options for the connection to the provider'))
  }
)

export const Configurations = namedObject(
  'ConfigurationsDto',
  'Additional configuration of an integration',
  {
    inboundWebhookEnabled: flag(
      'Whether the provider reports the delivery status of messages to a webhook'
    ),
    inboundWebhookSigningKey: text('Key that the provider signs its webhook requests with')
  }
)

export const Integration = namedObject('Integration', 'Connects a channel to a delivery provider', {
  _id: text('Generated identifier of the integration'),
  _environmentId: Type.String({ description: 'Identifier of the owning environment' }),
  _organizationId: Type.String({ description: 'Identifier of the owning organization' }),
  name: Type.String({ description: 'Display name' }),
  identifier: Type.String({ description: 'Unique string identifier of the integration' }),
  providerId: Type.String({
    description: 'Identifier of the delivery provider, such as `sendgrid`'
  }),
  channel: ref(Channel, 'Channel that the integration delivers on'),
  credentials: ref(Credentials),
  configurations: Type.Optional(ref(Configurations)),
  active: Type.Boolean({ description: 'Whether the integration processes events and messages' }),
  deleted: Type.Boolean({ description: 'Whether the integration is soft-deleted' }),
  deletedAt: text("When the integration was soft-deleted; absent if it isn't soft-deleted"),
  deletedBy: text('Identifier of the user who deleted the integration'),
  primary: Type.Boolean({
    description: 'Whether the integration is the primary one of its channel'
  }),
  conditions: Type.Optional(
    Type.Array(ref(StepFilter), {
      description: 'Conditions that decide when the integration is used',
      minItems: 0
    })
  )
})
export type Integration = Static<typeof Integration>
