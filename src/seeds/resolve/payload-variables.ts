import { ForTag, Liquid, TablerowTag, type Template, TypeGuards, toValueSync, type Value } from 'liquidjs'

/**
 * The one Liquid engine, for reading templates and for rendering them. What it renders depends on the template and the
 * scope alone: no files, UTC, English. An object is rendered as JSON, as the deployed service does.
 */
export const liquid = new Liquid({
  templates: {},
  timezoneOffset: 0,
  locale: 'en-US',
  outputEscape: (value: unknown) =>
    (typeof value === 'object' && value !== null && !Array.isArray(value) ? JSON.stringify(value) : value) as string
})

/** A use of the payload in a template. */
export interface PayloadUse {
  /** The names below `payload.`; null stands for an element of a list. */
  path: readonly (string | null)[]
  /** The expression as it was written, such as `payload.items[0].name`. */
  text: string
  /** Whether a loop goes over it. */
  isLooped: boolean
  /** Whether it is reached through the variable of a loop, such as `item.name`. */
  isLoopItem: boolean
}

/**
 * Lists the uses of the payload in all texts inside a value, in order of first appearance. Of a text that is not
 * well-formed Liquid, the outputs and tags that can be read by themselves count.
 */
export function payloadUses(value: unknown): PayloadUse[] {
  if (typeof value === 'string') return blocksOf(value) ?? [...usesIn(parseLeniently(value), new Map())]
  if (typeof value !== 'object' || value === null) return []
  const known = usesOf.get(value) ?? Object.values(value).flatMap(payloadUses)
  usesOf.set(value, known)
  return known
}

/** Each step of a workflow asks for the uses in all of its steps. */
const usesOf = new WeakMap<object, PayloadUse[]>()

/** Of the text of the block editor, which is JSON: the quotes in its Liquid are escaped. */
function blocksOf(text: string): PayloadUse[] | undefined {
  if (!/^\s*\{\s*"/.test(text)) return undefined
  try {
    return payloadUses(JSON.parse(text))
  } catch {
    return undefined
  }
}

function parseLeniently(text: string): Template[] {
  if (!/\{[{%]/.test(text)) return []
  return (
    parsed(text) ??
    [...text.matchAll(OUTPUT_OR_TAG)].flatMap(([part, tag]) => parsed(part) ?? parsed(`${part}{% end${tag} %}`) ?? [])
  )
}

const OUTPUT_OR_TAG = /\{\{.*?\}\}|\{%-?\s*(\w+).*?%\}/gs

function parsed(text: string): Template[] | undefined {
  try {
    return liquid.parse(text)
  } catch {
    return undefined
  }
}

type Path = PayloadUse['path']

/** `items` are the variables of the loops around, with the paths of the elements that they stand for. */
function* usesIn(templates: readonly Template[], items: ReadonlyMap<string, Path>): Generator<PayloadUse> {
  for (const template of templates) {
    const loop = template instanceof ForTag || template instanceof TablerowTag ? template : undefined
    let inner = items
    for (const argument of template.arguments?.() ?? []) {
      for (const token of accessesIn(argument)) {
        const [root, ...rest] = token.props.map(nameOf)
        const base = root === 'payload' ? [] : items.get(root ?? '')
        if (!base) continue
        const path = [...base, ...rest]
        const isLooped = token === loop?.collection
        if (isLooped) inner = new Map([...inner, [loop?.variable ?? '', [...path, null]]])
        const isLoopItem = root !== 'payload'
        if (typeof path[0] === 'string') yield { path, text: token.getText(), isLooped, isLoopItem }
      }
    }
    if (template.children) yield* usesIn(toValueSync(template.children(false, true)) as Template[], inner)
  }
}

type Token = Parameters<typeof TypeGuards.isPropertyAccessToken>[0]
type Access = Extract<Token, { props: unknown }>

/** The accesses to variables in an expression: in its filters' arguments, ranges and indexes too. */
function* accessesIn(expression: unknown): Generator<Access> {
  if (TypeGuards.isPropertyAccessToken(expression)) {
    yield expression
    for (const prop of expression.props) yield* accessesIn(prop)
  } else if (TypeGuards.isRangeToken(expression)) {
    yield* accessesIn(expression.lhs)
    yield* accessesIn(expression.rhs)
  } else if (typeof expression === 'object' && expression !== null && 'initial' in expression) {
    const { initial, filters } = expression as Value
    for (const token of initial.postfix) yield* accessesIn(token)
    for (const argument of filters.flatMap(({ args }) => args)) yield* accessesIn([argument].flat().at(-1))
  }
}

function nameOf(prop: Access['props'][number]): string | null {
  const name = 'content' in prop && typeof prop.content === 'string' ? prop.content : ''
  return name === '' || /^\d+$/.test(name) ? null : name
}
