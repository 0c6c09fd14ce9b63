import { isObject } from './schema.js'
import { templateParts } from './template.js'

/** A text of a template, its variables marked. */
export function TemplateText({ text }: { text: string }) {
  return (
    <>
      {templateParts(text).map((part, index) =>
        index % 2 === 1 ? <mark class={part.startsWith('{%') ? 'tag' : 'variable'}>{part}</mark> : part
      )}
    </>
  )
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
