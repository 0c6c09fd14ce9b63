import { countOf } from '../domain/count.js'
import { shorten } from '../domain/shorten.js'
import type {
  DocumentComparison,
  DocumentDifference
} from '../remote/comparison/compare-documents.js'
import type { ServiceComparison } from '../remote/comparison/compare-services.js'

interface Explainable {
  explainedBy?: string
}

/** Returns the comparison of two servers as text. */
export function servicesText(comparison: ServiceComparison): string {
  const { compared, same, skipped, differences, ignored } = comparison
  const reason =
    skipped === 1
      ? "because it changes data or isn't a request to the service"
      : "because they change data or aren't requests to the service"
  const skippedText = skipped > 0 ? `; ${countOf(skipped, 'request')} not sent, ${reason}` : ''
  return joinLines([
    `${countOf(compared, 'request')} compared, ${same} with the same response${skippedText}`,
    ...(compared === 0 ? [NO_REQUEST] : []),
    ...differenceLines(differences, serviceLines),
    '',
    `Not compared: ${ignored.join(', ')}`
  ])
}

const NO_REQUEST =
  'Nothing was compared: add a GET request to /v1 or /v2, ' +
  'or send set-primary requests with --allow-changes'

function serviceLines(difference: ServiceComparison['differences'][number]): string[] {
  const { method, path, field, target, ours } = difference
  const where = field ? `${method} ${path}: ${field}` : `${method} ${path}`
  return [`${where}: target ${valueText(target)}, mock ${valueText(ours)}`]
}

/** Returns the comparison of two OpenAPI documents as text. */
export function documentText({ compared, missing, differences }: DocumentComparison): string {
  return joinLines([
    `${countOf(compared, 'operation')} compared`,
    ...missing.map((name) => `${name} is not in the published document`),
    ...differenceLines(differences, documentLines)
  ])
}

/** The maximum number of places to print for each difference. */
const MAX_PLACES = 3

function documentLines(difference: DocumentDifference): string[] {
  const { kind, published, ours, places } = difference
  const values = [
    published.length > 0 ? `published ${published.join(', ')}` : undefined,
    ours.length > 0 ? `mock ${ours.join(', ')}` : undefined
  ].filter((value) => value !== undefined)
  const [first] = places
  const [shared = '', ...others] = places.map(placeText)
  const isOne = first !== undefined && others.length === 0
  const omitted = places.length - MAX_PLACES
  const more = omitted > 0 ? [`and ${omitted} more`] : []
  const shown = [shared, ...others].slice(0, MAX_PLACES)
  const valuesText = values.length > 0 ? `: ${shorten(values.join('; '), 160)}` : ''
  return [
    `${partsText(difference)}: ${kind}${valuesText}`,
    `    in ${[...shown, ...more].join(', ')}`,
    ...(isOne ? [`    published: ${first.publishedAt}`, `    mock: ${first.oursAt}`] : [])
  ]
}

/** The maximum number of fields of an object to print. */
const MAX_FIELDS = 10

function partsText({ parts, object }: DocumentDifference): string {
  if (object === undefined) return parts.join(', ')
  const names = parts.map((part) => part.slice(object.length + 1))
  const more = names.length > MAX_FIELDS ? ['…'] : []
  const shown = [...names.slice(0, MAX_FIELDS), ...more].join(', ')
  return `${object}: ${countOf(names.length, 'field')} (${shown})`
}

const placeText = ({ operation, status }: DocumentDifference['places'][number]) =>
  status === undefined ? operation : `${operation} ${status}`

function differenceLines<Difference extends Explainable>(
  differences: readonly Difference[],
  linesOf: (difference: Difference) => string[]
): string[] {
  const unexplained = differences.filter(({ explainedBy }) => explainedBy === undefined)
  const explained = differences.filter(({ explainedBy }) => explainedBy !== undefined)
  return [
    ...sectionLines('that no assumption explains', unexplained, linesOf),
    ...sectionLines('that an assumption explains', explained, linesOf)
  ]
}

function sectionLines<Difference extends Explainable>(
  description: string,
  differences: readonly Difference[],
  linesOf: (difference: Difference) => string[]
): string[] {
  if (differences.length === 0) return []
  const lines = differences.flatMap((difference) => {
    const [first, ...others] = linesOf(difference)
    const assumption = difference.explainedBy ? ` (${difference.explainedBy})` : ''
    return [`  ${first}${assumption}`, ...others.map((line) => `  ${line}`)]
  })
  return ['', `${countOf(differences.length, 'difference')} ${description}:`, ...lines]
}

function valueText(value: unknown): string {
  if (value === undefined) return 'nothing'
  return shorten(JSON.stringify(value), 80)
}

const joinLines = (lines: readonly string[]) => `${lines.join('\n')}\n`
