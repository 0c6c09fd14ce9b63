import { isObject } from './schema.js'

const VARIABLE = /(\{\{.*?\}\}|\{%.*?%\})/s

/** A text of a template, its variables marked. */
export function TemplateText({ text }: { text: string }) {
  return (
    <>
      {text
        .split(VARIABLE)
        .map((part, index) =>
          index % 2 === 1 ? <mark class={part.startsWith('{%') ? 'tag' : 'variable'}>{part}</mark> : part
        )}
    </>
  )
}

/** Returns the paths of the variables that values name, such as `payload.photos[0].url`. */
export function variablesIn(value: unknown): string[] {
  if (typeof value === 'string') {
    return (value.match(/\{[{%].*?[}%]\}/gs) ?? []).flatMap(
      (part) => part.match(/[a-z]\w*(?:\.[\w-]+|\[\d+\])+/gi) ?? []
    )
  }
  if (!isObject(value) && !Array.isArray(value)) return []
  const named = isObject(value) && typeof value.var === 'string' ? [value.var] : []
  return [...named, ...Object.values(value).flatMap(variablesIn)]
}

interface Block {
  type?: unknown
  text?: unknown
  attrs?: unknown
  content?: unknown
}

/** Returns the document of the block editor that a text holds, or undefined if it holds none. */
export function blocksIn(text: string): Block[] | undefined {
  if (!text.startsWith('{')) return undefined
  try {
    const parsed: unknown = JSON.parse(text)
    return isObject(parsed) && parsed.type === 'doc' ? childrenOf(parsed) : undefined
  } catch {
    return undefined
  }
}

/** The text of an email of the block editor. */
export function Blocks({ blocks }: { blocks: readonly Block[] }) {
  return (
    <>
      {blocks.map((block, index) => {
        if (block.type === 'text') return <span key={index}>{String(block.text)}</span>
        if (block.type === 'variable') {
          const { id, fallback } = isObject(block.attrs) ? block.attrs : {}
          return (
            <mark key={index} class="variable">
              {`{{${String(id)}${fallback ? ` | default: '${String(fallback)}'` : ''}}}`}
            </mark>
          )
        }
        return (
          <div key={index} class="block">
            <Blocks blocks={childrenOf(block)} />
            {childrenOf(block).length === 0 && <span class="hint">{String(block.type)}</span>}
          </div>
        )
      })}
    </>
  )
}

function childrenOf({ content }: Block): Block[] {
  return Array.isArray(content) ? content.filter(isObject) : []
}
