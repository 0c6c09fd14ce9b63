/** HTML that `html` inserts without escaping. */
export class Html {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** A value to insert into an `html` template. `undefined` and `false` insert nothing. */
export type Content = Html | string | number | undefined | false | readonly Content[]

/** Creates HTML from a template literal. Inserted strings are escaped. */
export function html(parts: TemplateStringsArray, ...values: readonly Content[]): Html {
  const inserted = values.map(toHtml)
  return new Html(parts.map((part, index) => part + (inserted[index] ?? '')).join(''))
}

function toHtml(content: Content): string {
  if (content instanceof Html) return content.text
  if (content === undefined || content === false) return ''
  if (typeof content === 'object') return content.map(toHtml).join('')
  return escapeHtml(String(content))
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** Escapes text for HTML, and for attributes in double quotes. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => ENTITIES[character] ?? character)
}

/** Converts Markdown to HTML. Supports only code, bold text and links. */
export function inlineMarkdown(text: string): Html {
  return new Html(
    escapeHtml(text)
      .replace(/`([^`]+)`/g, '<code>$1</code>')
      .replace(/\*\*(.+?)\*\*/g, '<b>$1</b>')
      .replace(/\[([^\]]+)\]\(([^)\s]+)\)/g, '<a href="$2">$1</a>')
  )
}
