import type { Assumptions } from './assumptions.js'

/** The contract's word -> the deployed service's, where the two differ. */
export const VENDOR_NAMES: Readonly<Record<string, string>> = {
  'service-cloud': 'novu-cloud',
  'service-cloud-v1': 'novu-cloud-v1',
  'service-slack': 'novu-slack'
}

/** Whether a document, as JSON, may need `withVendorNames`: it is cheap, and may say yes without need. */
export const mayNeedVendorNames = (json: string | Buffer, assumptions: Assumptions): boolean =>
  assumptions['vendor-names'] === 'vendor' && json.includes('"service-')

/** The fields of a step, message or integration that hold a name. In any other field the same text is content. */
interface NameFields {
  origin?: string
  providerId?: string
  subscriber?: { channels?: NameFields[] }
}

/** Changes the names in a document to those of the deployed service, and returns it. */
export function withVendorNames<Document extends NameFields>(document: Document): Document {
  const fields: NameFields = document
  for (const field of ['origin', 'providerId'] as const) {
    const name = fields[field] ?? ''
    if (Object.hasOwn(VENDOR_NAMES, name)) fields[field] = VENDOR_NAMES[name] ?? name
  }
  for (const channel of fields.subscriber?.channels ?? []) withVendorNames(channel)
  return document
}
