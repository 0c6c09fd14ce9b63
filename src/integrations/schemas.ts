import { type Static, Type } from '@sinclair/typebox'
import { Channel, StepFilter } from '../schema/shared.js'
import { freeObject, namedObject, ref } from '../schema/typebox.js'

const text = (description: string) => Type.Optional(Type.String({ description }))
const flag = (description: string) => Type.Optional(Type.Boolean({ description }))

export const Credentials = namedObject(
  'CredentialsDto',
  'Credentials for the provider, which decides which it needs',
  {
    apiKey: text('API key'),
    user: text('User name'),
    secretKey: text('Secret key, or signing secret'),
    domain: text('Domain that messages are sent from'),
    password: text('Password of the user'),
    host: text('Host name of the mail server'),
    port: text('Port number, as a string'),
    region: text("Region of the provider's data center"),
    accountSid: text('Account identifier'),
    messageProfileId: text('Identifier of the messaging profile'),
    token: text('Authentication token'),
    from: text('Address or phone number that messages are sent from'),
    senderName: text('Name that messages are sent from'),
    projectName: text('Name of the project'),
    applicationId: text('Identifier of the application'),
    clientId: text('Client identifier of the application'),
    baseUrl: text("Base URL of the provider's API"),
    webhookUrl: text('URL that messages are posted to'),
    redirectUrl: text('URL that users return to after they have authorized the application'),
    serviceAccount: text('Service account, as a JSON text'),
    ipPoolName: text('Name of the pool of IP addresses to send from'),
    apiKeyRequestHeader: text('Name of the request header that carries the API key'),
    secretKeyRequestHeader: text('Name of the request header that carries the secret key'),
    idPath: text("Path of the message's identifier in the provider's response"),
    datePath: text("Path of the date in the provider's response"),
    apiToken: text('API token'),
    authenticationTokenKey: text(
      'Name of the request header that carries the authentication token'
    ),
    instanceId: text('Identifier of the instance'),
    alertUid: text('Identifier of the alert'),
    title: text('Title of the alert'),
    imageUrl: text('URL of an image for the alert'),
    state: text('State of the alert'),
    externalLink: text('URL that the alert links to'),
    channelId: text('Identifier of the channel to send to'),
    phoneNumberIdentification: text('Identifier of the phone number that messages are sent from'),
    accessKey: text('Access key'),
    appSid: text('Application identifier'),
    senderId: text('Identifier of the sender'),
    tenantId: text('Identifier of the tenant'),
    AppIOBaseUrl: text('Base URL of the Appio API'),
    secure: flag('Whether the connection is encrypted from its start'),
    requireTls: flag('Whether an unencrypted connection must be upgraded to TLS'),
    ignoreTls: flag('Whether the connection stays unencrypted even if the server offers TLS'),
    hmac: flag('Whether the subscriber identifier must be signed'),
    authenticateByToken: flag('Whether a token is fetched first and sent with each request'),
    tlsOptions: Type.Optional(freeObject('TLS options of the connection to the provider'))
  }
)

export const Configurations = namedObject(
  'ConfigurationsDto',
  'Additional configuration of an integration',
  {
    inboundWebhookEnabled: flag(
      'Whether the provider reports to the service what became of a message'
    ),
    inboundWebhookSigningKey: text('Key that the reports are signed with')
  }
)

export const Integration = namedObject(
  'Integration',
  'The connection of a channel to a delivery provider',
  {
    _id: text('Generated record identifier'),
    _environmentId: Type.String({ description: 'Owning environment' }),
    _organizationId: Type.String({ description: 'Owning organization' }),
    name: Type.String({ description: 'Display name' }),
    identifier: Type.String({ description: 'Unique string identifier of the integration' }),
    providerId: Type.String({ description: 'Identifier of the provider' }),
    channel: ref(Channel, 'The channel it delivers on'),
    credentials: ref(Credentials),
    configurations: Type.Optional(ref(Configurations)),
    active: Type.Boolean({ description: 'Whether the integration processes events and messages' }),
    deleted: Type.Boolean({ description: 'Soft-delete marker' }),
    deletedAt: text('When it was deleted; absent if it was not'),
    deletedBy: text('Identifier of the user who deleted it'),
    primary: Type.Boolean({ description: 'Whether it is the primary integration of its channel' }),
    conditions: Type.Optional(
      Type.Array(ref(StepFilter), {
        description: 'Conditions that influence its behavior',
        minItems: 0
      })
    )
  }
)
export type Integration = Static<typeof Integration>
