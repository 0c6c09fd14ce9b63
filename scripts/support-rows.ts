/** What there is to be shown: the rows of the support matrix, from the operations, their documents and the register. */
import { type PlannedItem, planOf } from '../src/control/coverage/plan.js'
import { ASSUMPTION_IDS, assume, PROFILES, positionsOf } from '../src/core/assumptions.js'
import type { Operation } from '../src/http/operation.js'
import { setIntegrationAsPrimary } from '../src/integrations/routes.js'
import { listMessages } from '../src/messages/routes.js'
import { openApiDocument } from '../src/openapi/documents.js'
import { retrieveWorkflowStep } from '../src/workflow-steps/routes.js'

export interface Row {
  /** As in `Shown`. */
  name: string
  what: string
  /** The folders of the tests that are about it, the closest first. */
  folders: string[]
}

export interface Section {
  title: string
  rows: Row[]
}

/** An OpenAPI document, as far as rows are made of it. */
interface Described {
  paths: Record<string, Record<string, DescribedOperation>>
}

interface DescribedOperation {
  operationId: string
  parameters: { name: string; in: string }[]
  responses: Record<string, { description: string; headers: Record<string, object> }>
}

const OPERATIONS = [setIntegrationAsPrimary, listMessages, retrieveWorkflowStep]

const FOLDERS = {
  setIntegrationAsPrimary: 'test/integrations/',
  listMessages: 'test/messages/',
  retrieveWorkflowStep: 'test/workflow-steps/'
}

/** Of what is the same for all operations: by header, by status, and by status and code. */
const COMMON_FOLDERS: Record<string, string> = {
  authorization: 'test/environments/',
  'www-authenticate': 'test/environments/',
  'idempotency-key': 'test/idempotency/',
  'idempotency-replay': 'test/idempotency/',
  'retry-after': 'test/idempotency/',
  'x-mock-reason': 'test/http/',
  'x-request-id': 'test/http/',
  '400': 'test/http/',
  '401': 'test/environments/',
  '403': 'test/environments/',
  '409': 'test/idempotency/',
  '413': 'test/http/',
  '422 key-reused': 'test/idempotency/',
  '500': 'test/control/faults/'
}

/** The paths of operations by their names, and what they may name a record by. */
const FORMS: Record<string, string[]> = {
  integrationId: ['_id', 'identifier'],
  workflowId: ['_id', 'identifier', 'slug'],
  stepId: ['_id', 'identifier', 'slug']
}

/** Returns all rows, by operation, and those of no operation. */
export async function supportSections(): Promise<Section[]> {
  const documents = await Promise.all(PROFILES.map((profile) => openApiDocument(assume(profile))))
  return [
    ...OPERATIONS.map((operation) => {
      const { id, method, url } = operation
      const described = documents.map((document) => describedIn(document as unknown as Described, operation))
      return { title: `${id}: ${method} ${url.replace(/:(\w+)/g, '{$1}')}`, rows: operationRows(operation, described) }
    }),
    { title: 'Requests that no operation serves', rows: UNSERVED },
    { title: 'The register of assumptions', rows: registerRows() }
  ]
}

const UNSERVED: Row[] = [
  ['404', 'a path outside of `/v1/` and `/v2/`; with `unserved-route=not-found` all of these'],
  ['405', 'another method on the path of an operation'],
  ['501', 'another path under `/v1/` or `/v2/`']
].map(([status, what]) => ({ name: `unserved.${status}`, what: `${status}: ${what}`, folders: ['test/http/'] }))

function registerRows(): Row[] {
  return ASSUMPTION_IDS.flatMap((id) =>
    positionsOf(id).map((position) => ({
      name: `register.${id}=${position}`,
      what: `\`${id}\` is \`${position}\``,
      folders: ['test/core/']
    }))
  )
}

function describedIn({ paths }: Described, { id }: Operation): DescribedOperation {
  const all = Object.values(paths).flatMap((methods) => Object.values(methods))
  const described = all.find(({ operationId }) => operationId === id)
  if (!described) throw new Error(`the document has no ${id}`)
  return described
}

function operationRows(operation: Operation, described: readonly DescribedOperation[]): Row[] {
  const { id, idempotent } = operation
  const row = (name: string, what: string, common = ''): Row => {
    const folder = COMMON_FOLDERS[common]
    return { name: `${id}.${name}`, what, folders: [...(folder ? [folder] : []), FOLDERS[operation.id]] }
  }
  const ofItem = (item: PlannedItem) => row(item.id.slice(id.length + 1), itemText(item, described), item.name)
  const { items } = planOf(operation)
  const isSent = ({ kind }: PlannedItem) => kind !== 'operation' && kind !== 'status'
  const parameters = described[0]?.parameters ?? []
  const paths = parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name)
  const responses = described.flatMap((each) => Object.values(each.responses))
  const headers = [...new Set(responses.flatMap((response) => Object.keys(response.headers)))]
  return [
    ...items.filter(({ kind }) => kind === 'operation').map(ofItem),
    ...paths.flatMap((name) => formsOf(name).map((form) => row(`path.${name}.${form}`, `\`${name}\`: ${form}`))),
    row('request.authorization', 'request header `authorization`', 'authorization'),
    ...(idempotent
      ? []
      : [row('request.idempotency-key', 'request header `idempotency-key`, without effect', 'idempotency-key')]),
    ...items.filter(isSent).map(ofItem),
    ...items.filter(({ kind }) => kind === 'status').map(ofItem),
    ...headers.map((name) => row(`response.${name}`, `response header \`${name}\``, name))
  ]
}

function formsOf(parameter: string): string[] {
  const forms = FORMS[parameter]
  if (!forms) throw new Error(`what ${parameter} may be is not in FORMS`)
  return forms
}

function itemText({ kind, name, error }: PlannedItem, described: readonly DescribedOperation[]): string {
  if (kind === 'operation') return name
  if (kind === 'header')
    return name === 'idempotency-replay' ? 'the same `idempotency-key` again' : `request header \`${name}\``
  if (kind !== 'status') return `\`${name.replace(/, several$/, '')}\`${kind === 'list' ? ', several values' : ''}`
  const [status = '', code] = name.split(' ')
  const [text = ''] = described.flatMap(({ responses }) => responses[status]?.description ?? [])
  // The document has one description for both errors with this status.
  const words = status === '422' ? (code ? 'the idempotency key was used before' : 'a field is invalid') : text
  const under = error?.under ? ` (\`${error.under.join('=')}\`)` : ''
  return `${status}: ${words}${under}${status === '500' ? ' (injected)' : ''}`
}
