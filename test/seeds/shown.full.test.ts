import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { Kind, type TSchema } from '@sinclair/typebox'
import { expect, test } from 'vitest'
import { PROFILES } from '../../src/domain/assumptions.js'
import { Integration } from '../../src/integrations/schemas.js'
import { OPERATIONS } from '../../src/operations.js'
import { compile, namedSchemas, targetOf } from '../../src/schema/typebox.js'
import { WorkflowStep } from '../../src/workflow-steps/schemas.js'
import { type TestMock, useMock } from '../support/mock.js'

/** The facts (see `factsOfFields`) that no response can show, grouped by reason. */
const IMPOSSIBLE: Record<string, string[]> = {
  'every record in a response has an id': [
    'Integration: Integration._id absent',
    'MessagesPage: MessageResponseDto._id absent',
    'MessagesPage: SubscriberResponseDto._id absent'
  ],
  'only set-primary returns an integration, which is primary by then': [
    'Integration: Integration.primary = false'
  ],
  'set-primary responds with 404 for a deleted integration': [
    'Integration: Integration.deleted = true',
    'Integration: Integration.deletedAt present',
    'Integration: Integration.deletedBy present'
  ]
}

const SEEDS = readdirSync(join(import.meta.dirname, '../../seeds')).flatMap((name) =>
  name.endsWith('.yaml') ? [name.slice(0, -'.yaml'.length)] : []
)

test('with the built-in seeds, responses show every field, value and variant that they can', {
  timeout: 240_000
}, async () => {
  const shown = new Set<string>()
  for (const profile of PROFILES) {
    for (const seed of SEEDS)
      for await (const fact of factsShownBy(await useMock({ seeds: [seed], profile })))
        shown.add(fact)
  }
  // If the responses of several operations contain a schema, each of these operations must show the
  // schema's facts.
  const facts = OPERATIONS.flatMap(({ response }) => {
    const all = namedSchemas(response).flatMap((schema) => [...factsOfFields(schema)])
    return [...within(response, all)]
  })
  expect(facts.length).toBeGreaterThan(700)
  const missing = facts.filter((fact) => !shown.has(fact))
  expect(missing.sort()).toEqual(Object.values(IMPOSSIBLE).flat().sort())
})

function* within({ $id }: TSchema, facts: Iterable<string>): Generator<string> {
  for (const fact of facts) yield `${$id}: ${fact}`
}

/**
 * Requests every list and every step, and makes every integration primary. Yields the facts (see
 * `factsOfFields`) that the responses show.
 */
async function* factsShownBy(mock: TestMock): AsyncGenerator<string> {
  for (const { id, apiKeys, integrations, steps } of mock.seededEnvironments) {
    const [key = ''] = apiKeys
    for (const { url, response } of OPERATIONS.filter(
      ({ method, params }) => method === 'GET' && !params
    )) {
      for (const limit of [1, 1000]) {
        yield* within(
          response,
          factsShown(response, (await mock.get(`${url}?limit=${limit}`, { key })).json)
        )
      }
    }
    for (const { workflowId, stepId } of steps) {
      const [workflow, step] = [workflowId, stepId].map(encodeURIComponent)
      const { json } = await mock.get(`/v2/workflows/${workflow}/steps/${step}`, { key })
      yield* within(WorkflowStep, factsShown(WorkflowStep, json.data ?? json))
    }
    for (const { _id } of integrations) {
      // Use a fork, because set-primary also changes other integrations.
      const fork = (
        await mock.post('/_mock/environments', { key: null, body: JSON.stringify({ from: id }) })
      ).json
      const { status, json } = await mock.post(`/v1/integrations/${_id}/set-primary`, {
        key: fork.apiKey
      })
      if (status === 200) yield* within(Integration, factsShown(Integration, json.data ?? json))
      await mock.call(`/_mock/environments/${fork.environmentId}`, { method: 'DELETE', key: null })
    }
  }
}

/**
 * Yields the facts about an object's fields. A fact is something that a response can show, such as
 * a present or absent optional field, an enum value, `null`, `true`, an empty list, or a variant of
 * a union.
 */
function* factsOfFields({ $id, properties = {}, required = [] }: TSchema): Generator<string> {
  for (const [field, schema] of Object.entries<TSchema>(properties)) {
    if (!required.includes(field)) yield* [`${$id}.${field} present`, `${$id}.${field} absent`]
    yield* factsOfValues(schema, `${$id}.${field}`)
  }
}

function* factsOfValues(schema: TSchema, at: string): Generator<string> {
  const { type, enum: values, anyOf, items, additionalProperties } = schema
  if (schema[Kind] === 'Reference') {
    // `factsOfFields` yields the facts about a referenced object's fields, so skip them here.
    if (!targetOf(schema).properties) yield* factsOfValues(targetOf(schema), at)
  } else if (values) yield* values.map((value: string) => `${at} = ${value}`)
  else if (anyOf) for (const variant of anyOf) yield `${at} as ${nameOf(variant)}`
  else if (items) yield* [`${at} empty`, `${at} filled`, ...factsOfValues(items, at)]
  else if (typeof additionalProperties === 'object') yield* factsOfValues(additionalProperties, at)
  if (type?.includes('null')) yield `${at} = null`
  if (type?.includes('boolean')) yield* [`${at} = true`, `${at} = false`]
}

/** Yields the facts that a value and its nested objects show. */
function* factsShown(schema: TSchema, value: unknown, at = ''): Generator<string> {
  if (schema[Kind] === 'Reference') return yield* factsShown(targetOf(schema), value, at)
  if (value === null || typeof value === 'boolean' || schema.enum) yield `${at} = ${value}`
  // Several variants can match: a digest that has only a duration also matches a delay.
  for (const variant of schema.anyOf ?? []) {
    if (!compile(variant).Check(value)) continue
    yield `${at} as ${nameOf(variant)}`
    yield* factsShown(variant, value, at)
  }
  if (Array.isArray(value)) yield `${at} ${value.length === 0 ? 'empty' : 'filled'}`
  if (typeof value === 'object' && value !== null) yield* factsOfProperties(schema, value, at)
}

function* factsOfProperties(schema: TSchema, value: object, at: string): Generator<string> {
  for (const [name, inner] of Object.entries(value)) {
    const property = schema.items ?? schema.properties?.[name] ?? schema.additionalProperties
    if (typeof property !== 'object') continue
    yield* factsShown(property, inner, schema.$id ? `${schema.$id}.${name}` : at)
  }
  if (!schema.$id) return
  for (const field of Object.keys(schema.properties ?? {})) {
    yield `${schema.$id}.${field} ${field in value ? 'present' : 'absent'}`
  }
}

const nameOf = ({ $ref, type }: TSchema): string => $ref ?? type
