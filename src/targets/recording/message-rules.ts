import type { SeedMessage } from '../../seeds/format.js'
import { isPlainName, isTime, type Known, knownTexts, type Replacer } from './replace.js'

/** Returns what stands for the value of one field. */
type Rule = (value: unknown, known: Known, field: string) => unknown
type Rules = Record<string, Rule>

/** Returns what replaces the personal data of a message; ids, times and words of the contract stay. */
export function messageRule(replacer: Replacer, workflowText: (source: string) => string) {
  const rules = basicRules(replacer)
  const { keep, string, prose, url, object, fixed } = rules
  const deviceTokens = string((source) => replacer.opaque('device-token', source))
  const subscriber = subscriberRule(replacer, rules, deviceTokens)
  const template = templateRule(replacer, rules, string(workflowText))
  const block = object({ type: keep, url, content: prose, styles: keep })
  const button = object({ type: keep })
  const action = object({ status: keep, buttons: button, result: button })
  const message = object({
    ...fixed,
    channel: keep,
    status: keep,
    subscriber,
    template,
    content: (value, known, field) => (Array.isArray(value) ? block : prose)(value, known, field),
    cta: object({ type: keep, data: object({ url }), action }),
    transactionId: string(replacer.transactionId),
    contextKeys: string(replacer.contextKey),
    email: string(replacer.email),
    phone: string(replacer.phone),
    directWebhookUrl: url,
    deviceTokens
  })
  return (document: SeedMessage) => message(document, knownOf(document, replacer), '') as SeedMessage
}

type BasicRules = ReturnType<typeof basicRules>

function basicRules(replacer: Replacer) {
  const { text, value: free } = replacer
  const keep: Rule = (value) => value
  const each =
    (rule: Rule): Rule =>
    (value, known, field) =>
      Array.isArray(value) ? value.map((item) => rule(item, known, field)) : rule(value, known, field)
  const string = (change: (source: string, known: Known) => string): Rule =>
    each((value, known) => (typeof value === 'string' ? change(value, known) : value))
  /** Fields without a rule are replaced, whatever they are. */
  const object = (rules: Rules): Rule =>
    each((value, known, field) => {
      if (typeof value !== 'object' || value === null) return free(value, known, field)
      const entries = Object.entries(value).map(([name, inner]) => [name, (rules[name] ?? free)(inner, known, name)])
      return Object.fromEntries(entries)
    })
  const id = string((source) => (/^[\w.-]{1,100}$/.test(source) ? source : replacer.opaque('id', source)))
  const time = string((source, known) => (isTime(source) ? source : text(source, known)))
  const fixed: Rules = {
    ...Object.fromEntries(ID_FIELDS.map((name) => [name, id])),
    ...Object.fromEntries(TIME_FIELDS.map((name) => [name, time]))
  }
  return { keep, string, object, fixed, prose: string(text), url: string(replacer.url) }
}

function subscriberRule(
  replacer: Replacer,
  { keep, string, url, object, fixed }: BasicRules,
  deviceTokens: Rule
): Rule {
  const credentials = object({ webhookUrl: url, deviceTokens, imageUrl: url, externalUrl: url })
  const orText = (isWord: (text: string) => boolean) =>
    string((source, known) => (isWord(source) ? source : replacer.text(source, known)))
  return object({
    ...fixed,
    firstName: string((source) => replacer.name(source, 'first')),
    lastName: string((source) => replacer.name(source, 'last')),
    email: string(replacer.email),
    phone: string(replacer.phone),
    avatar: string((source) => `${replacer.url(source)}.png`),
    locale: orText((source) => /^[a-z]{2,3}([-_][A-Za-z]{2,4})?$/.test(source)),
    timezone: orText(isTimezone),
    channels: object({ ...fixed, credentials }),
    subscriberId: string(replacer.subscriberId),
    __v: keep
  })
}

/** For the workflow that is embedded in a message. */
function templateRule(replacer: Replacer, rules: BasicRules, workflowText: Rule): Rule {
  const { keep, string, url, object, fixed } = rules
  const path = string((source) => (isPath(source) ? source : replacer.opaque('name', source)))
  const variable = object({ name: path })
  const comparison = object({ field: path, operator: keep, on: keep })
  const kept = Object.fromEntries(METADATA_KEPT.map((name) => [name, keep]))
  const step = {
    ...fixed,
    name: workflowText,
    filters: object({ type: keep, value: keep, children: comparison }),
    metadata: object({ ...kept, digestKey: path, delayPath: path }),
    replyCallback: object({ url })
  }
  return object({
    ...fixed,
    name: workflowText,
    description: workflowText,
    tags: workflowText,
    triggers: object({ ...fixed, type: keep, variables: variable, subscriberVariables: variable }),
    steps: object({ ...step, variants: object(step) }),
    notificationGroup: object({ ...fixed, name: workflowText })
  })
}

const ID_FIELDS = [
  '_id',
  '_environmentId',
  '_organizationId',
  '_templateId',
  '_messageTemplateId',
  '_notificationId',
  '_subscriberId',
  '_feedId',
  '_integrationId',
  '_creatorId',
  '_notificationGroupId',
  '_parentId',
  'deletedBy',
  'errorId',
  'identifier',
  'integrationIdentifier',
  'providerId',
  'templateIdentifier',
  'uuid'
]
const TIME_FIELDS = [
  'createdAt',
  'updatedAt',
  'deliveredAt',
  'deletedAt',
  'lastSeenDate',
  'lastReadDate',
  'lastOnlineAt',
  'snoozedUntil'
]
const METADATA_KEPT = ['type', 'amount', 'unit', 'backoff', 'backoffAmount', 'backoffUnit', 'updateMode', 'timed']

/** Replaces what the texts of a message say of the person that it is to as the subscriber's own fields. */
function knownOf({ subscriber, email, phone }: SeedMessage, replacer: Replacer): Known {
  const texts: [string, string][] = []
  if (email) texts.push([email, replacer.email(email)])
  if (phone) texts.push([phone, replacer.phone(phone)])
  if (subscriber) {
    texts.push([subscriber.subscriberId, replacer.subscriberId(subscriber.subscriberId)])
    if (subscriber.email) texts.push([subscriber.email, replacer.email(subscriber.email)])
    if (subscriber.phone) texts.push([subscriber.phone, replacer.phone(subscriber.phone)])
    for (const [name, kind] of [
      [subscriber.lastName, 'last'],
      [subscriber.firstName, 'first']
    ] as const) {
      if (name) texts.push([name.trim(), replacer.name(name, kind)])
    }
  }
  return knownTexts(texts)
}

function isTimezone(text: string): boolean {
  return /^[A-Za-z_]{1,20}(\/[A-Za-z_+-]{1,20}){0,2}$/.test(text) && ZONES().has(text)
}

let zones: Set<string> | undefined
const ZONES = () => {
  zones ??= new Set(['UTC', 'GMT', 'Etc/UTC', ...Intl.supportedValuesOf('timeZone')])
  return zones
}

/** `payload.order.id`, also with indexes. */
export function isPath(text: string): boolean {
  return text.split('.').every((part) => isPlainName(part.replaceAll(/\[\d*\]/g, '')))
}
