import type { Assumptions } from '../core/assumptions.js'
import { VENDOR_NAMES } from '../core/vendor-names.js'
import { Configurations, Credentials, Integration } from '../integrations/schemas.js'
import { MAX_LIMIT } from '../messages/query.js'
import { MessagesPage } from '../messages/schemas.js'
import { ControlsMetadata, WorkflowStep } from '../workflow-steps/schemas.js'
import { type OpenApiDocument, operationIn, parameterIn, schemaIn } from './document.js'

/**
 * Changes a document to what an environment with these assumptions takes and answers, but for what its routes'
 * schemas already depend on: the envelope and the filters.
 */
export function asAssumed(document: OpenApiDocument, assumptions: Assumptions): void {
  if (assumptions['vendor-names'] === 'vendor') translateWords(document)
  if (assumptions['integration-lookup'] === 'id') {
    parameterIn(document, 'setIntegrationAsPrimary', 'integrationId').pattern = '^[0-9a-fA-F]{24}$'
  }
  if (assumptions['foreign-integration'] === 'not-found') {
    delete operationIn(document, 'setIntegrationAsPrimary').responses[403]
  }
  if (assumptions.credentials === 'hidden') {
    Object.assign(schemaIn(document, Credentials), { maxProperties: 0, description: 'Hidden: always empty' })
    delete schemaIn(document, Configurations).properties.inboundWebhookSigningKey
    schemaIn(document, Integration).examples[0].credentials = {}
  }
  if (assumptions['unknown-subscriber-filter'] === 'empty-page') {
    delete operationIn(document, 'listMessages').responses[404]
  }
  if (assumptions['paging-bounds'] === 'lenient') {
    Object.assign(parameterIn(document, 'listMessages', 'limit'), { minimum: 0, maximum: MAX_LIMIT })
  }
  if (assumptions['total-count'] === 'absent') {
    const page = schemaIn(document, MessagesPage)
    delete page.properties.totalCount
    delete page.examples[0].totalCount
  }
  if (assumptions['control-values'] === 'twice') {
    const values = { type: 'object', additionalProperties: true, description: 'The same as `controlValues`' }
    schemaIn(document, ControlsMetadata).properties.values = values
    const [step] = schemaIn(document, WorkflowStep).examples
    step.controls.values = step.controlValues
  }
}

function translateWords(node: unknown): void {
  if (typeof node !== 'object' || node === null) return
  const words = (node as { enum?: unknown }).enum
  if (Array.isArray(words)) {
    for (const [place, word] of words.entries()) words[place] = VENDOR_NAMES[word] ?? word
  }
  for (const inner of Object.values(node)) translateWords(inner)
}
