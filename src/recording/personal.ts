import type { SeedMessage, SeedStep } from '../seeds/format.js'
import { messageRule } from './message-rules.js'
import type { Replacer } from './replace.js'
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
  const workflowName = keepTexts ? (name: string) => name : replacer.template
  return {
    message: messageRule(replacer, workflowName),
    step: (document) => replaceStep(document, replacer, keepTexts),
    workflowName
  }
}

/** Returns a replacement of credentials, keys and webhooks alone, for a recording that keeps personal data. */
export function secretsReplacement(replacer: Replacer, apiKey: string): Replacement {
  return {
    message: (document) => walk(document, '', false) as SeedMessage,
    step: (document) => walk(document, '', false) as SeedStep,
    workflowName: (name) => name
  }

  function walk(value: unknown, field: string, isFree: boolean): unknown {
    if (typeof value === 'string') return textOf(value, field, isFree)
    if (Array.isArray(value)) return value.map((each) => walk(each, field, isFree))
    if (typeof value !== 'object' || value === null) return value
    const inner = isFree || FREE_FIELDS.has(field)
    const entries = Object.entries(value).map(([name, each]) => [
      name,
      walk(each, inner && replacer.isSecret(field) ? field : name, inner)
    ])
    return Object.fromEntries(entries)
  }

  function textOf(source: string, field: string, isFree: boolean): string {
    if (/^(directW|w)ebhookUrl$/.test(field)) return replacer.url(source)
    if (isFree && replacer.isSecret(field)) return replacer.secret(source)
    return source.includes(apiKey) ? source.replaceAll(apiKey, replacer.secret(apiKey)) : source
  }
}

const FREE_FIELDS = new Set(['payload', 'overrides', 'data', 'controlValues'])
