import type { Message } from './query.js'

/**
 * What makes emails harmless is this policy, which counts beside that of the page, and the sandbox of the frame. What
 * is taken out below would only leave errors in the console, or an empty frame.
 */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"

const HEAD = `<meta http-equiv="Content-Security-Policy" content="${POLICY}"><style>
  :root { color-scheme: light; background: #fff; color: #1a1d24; font: 14px/1.5 system-ui, sans-serif; }
  body { margin: 12px; overflow-wrap: anywhere; }
  img { max-width: 100%; }
  a { color: #4338ca; text-decoration: underline; }
  .block-button { display: inline-block; padding: 8px 16px; border-radius: 6px; background: #4338ca; color: #fff; }
</style>`

/** Returns an email as HTML for a sandboxed frame, in which its links lead nowhere; and where they would lead. */
export function emailDocument(content: Message['content'] = '') {
  const written = typeof content === 'string' ? content : content.map(blockHtml).join('')
  // This document is inert: nothing in it runs or is loaded.
  const email = new DOMParser().parseFromString(written, 'text/html')
  if (!/<[a-z!/]/i.test(written)) email.body.style.whiteSpace = 'pre-wrap'
  email.body.dir ||= email.documentElement.dir || 'auto'
  for (const element of email.querySelectorAll('script, template, base, meta, link, iframe, object, embed'))
    element.remove()
  const links: [text: string, href: string][] = []
  for (const element of email.querySelectorAll('*')) {
    for (const { name, value } of [...element.attributes]) {
      const isLink = name === 'href' || name === 'xlink:href'
      if (!isLink && (name !== 'src' || value.startsWith('data:'))) continue
      element.removeAttribute(name)
      element.setAttribute('title', value)
      if (isLink) links.push([element.textContent?.trim() || value, value])
    }
  }
  return { html: `<!doctype html>${HEAD}${email.documentElement.outerHTML}`, links }
}

type EmailBlock = Exclude<Message['content'], string | undefined>[number]

function blockHtml({ type, content, url = '', styles }: EmailBlock): string {
  const link = `<a class="block-button" href="${url.replaceAll('"', '&quot;')}">${content}</a>`
  return `<div dir="auto" style="text-align: ${styles?.textAlign ?? 'start'}">${type === 'text' ? content : link}</div>`
}
