import type { Template } from 'liquidjs'
import { isTooDeep } from '../../core/depth.js'
import { attempt } from '../../core/errors.js'
import type { EmailBlock, MessageResponse } from '../../messages/schemas.js'
import { createIssue, SeedError } from '../errors.js'
import { liquid } from './liquid.js'

/** What all texts of a message are rendered with. */
export interface Scope {
  /** What they may show: `payload`, `subscriber`, `steps`. */
  globals: object
  /** How many milliseconds rendering may still take in all; the same object for all messages. */
  time: { left: number }
}

/** Renders a text of the message that the scope is of. */
export type Render<Result = string> = (scope: Scope) => Result

/** More characters than any message has. */
const MAX_LENGTH = 1 << 18

/**
 * Compiles Liquid. A text that is not well-formed, fails to render or gets too long, stays as it stands. Rendering throws
 * SeedError when the time is used up: that way only whether there are messages depends on the machine, never what is in them.
 */
export function compile(source: string): Render {
  if (!/\{[{%]/.test(source)) return () => source
  let templates: Template[] | undefined
  return ({ globals, time }) => {
    const started = performance.now()
    const text = attempt(() => {
      templates ??= liquid.parse(source)
      return liquid.renderSync(templates, {}, { globals, renderLimit: time.left }) as string
    })
    time.left -= performance.now() - started
    if (time.left < 0) {
      const message = 'takes too long, as the templates do too much: shorten their loops'
      throw new SeedError([createIssue({ file: 'templates', path: 'generate', message })])
    }
    return text !== undefined && text.length <= MAX_LENGTH ? text : source
  }
}

type Content = NonNullable<MessageResponse['content']>

/** Compiles the content of an email: HTML in the sender's frame, or the blocks of a document of the block editor. */
export function compileEmail(body: string, subject: string, sender: string): Render<Content> {
  const blocks = attempt(() => compileBlocks(body))
  if (blocks) return (scope) => blocks.map((block) => block(scope))
  if (/<html/i.test(body)) return compile(body)
  const content = /<\w/.test(body) ? body : `<p>${body.replaceAll('\n', '<br>')}</p>`
  const head = `<head><meta charset="utf-8"><title>${subject}</title></head>`
  const footer = sender.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
  return compile(
    `<!DOCTYPE html><html lang="en">${head}<body><main>${content}</main><footer>${footer}</footer></body></html>`
  )
}

/** A node of a document of the block editor. */
interface Node {
  type?: string
  text?: string
  attrs?: Record<string, unknown>
  content?: Node[]
}

const styles = { textAlign: 'left' } as const

/** Returns undefined for what is no such document, or too deep to be one. */
function compileBlocks(body: string): Render<EmailBlock>[] | undefined {
  const document: Node | undefined = body.trimStart().startsWith('{') ? JSON.parse(body) : undefined
  return document?.type === 'doc' && !isTooDeep(document) ? document.content?.map(compileBlock) : undefined
}

function compileBlock(block: Node): Render<EmailBlock> {
  const content = compile(textOf(block))
  if (block.type !== 'button') return (scope) => ({ type: 'text', content: content(scope), styles })
  const url = compile(String(block.attrs?.url ?? 'https://example.com/'))
  return (scope) => ({ type: 'button', content: content(scope), url: url(scope), styles })
}

function textOf({ type, text = '', attrs = {}, content = [] }: Node): string {
  if (type === 'variable') return `{{${attrs.id}}}`
  if (type === 'button') return String(attrs.text ?? 'Open')
  return text + content.map(textOf).join('')
}
