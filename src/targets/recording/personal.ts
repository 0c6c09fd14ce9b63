import type { SeedMessage, SeedStep } from '../../seeds/format.js'
import { messageRule } from './message-rules.js'
import type { Replacer } from './replace.js'
import { withoutSecrets } from './secrets.js'
import { replaceStep } from './step-texts.js'

/** Changes what must not be in a seed. */
export interface Replacement {
  message(document: SeedMessage): SeedMessage
  step(document: SeedStep): SeedStep
  workflowName(name: string): string
}

/**
 * Returns the replacement of personal data, texts, keys and credentials. With `keepTexts`, names, descriptions, tags and
 * control values of workflows stay, but for their secrets.
 */
export function personalDataReplacement(replacer: Replacer, keepTexts: boolean): Replacement {
  const workflowName = keepTexts ? replacer.withoutSecrets : replacer.template
  return {
    message: messageRule(replacer, workflowName),
    step: (document) => replaceStep(document, replacer, keepTexts),
    workflowName
  }
}

/** Returns a replacement of credentials, keys and webhooks alone, for a recording that keeps personal data. */
export function secretsReplacement(replacer: Replacer): Replacement {
  return {
    message: (document) => withoutSecrets(replacer, document) as SeedMessage,
    step: (document) => withoutSecrets(replacer, document) as SeedStep,
    workflowName: replacer.withoutSecrets
  }
}
