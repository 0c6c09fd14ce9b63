import type { Message } from './query.js'

/** An email as a document for a frame, and where its links lead. */
export interface EmailDocument {
  html: string
  links: { text: string; href: string }[]
}

/**
 * The frame inherits the policy of the page; this one, which counts beside it, lets emails load nothing at all. What makes
 * them harmless is this, and the sandbox of the frame. What is taken out below would not work, and would only leave
 * broken images and errors in the console.
 */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"

const STYLE = `
  :root { color-scheme: light; background: #fff; color: #1a1d24; font: 14px/1.5 system-ui, sans-serif; }
  body { margin: 12px; overflow-wrap: anywhere; }
  img { max-width: 100%; }
  img:not([src]) { outline: 1px dashed #8a92a3; min-width: 24px; min-height: 24px; }
  [data-link] { color: #4338ca; text-decoration: underline; }
  .block-button { display: inline-block; padding: 8px 16px; border-radius: 6px; background: #4338ca; color: #fff; text-decoration: none; }
`

const REMOVED =
  'script, noscript, template, base, meta[http-equiv], link, iframe, frame, frameset, object, embed, audio, video, source'
const LOADED = ['src', 'srcset', 'background', 'poster', 'ping', 'action', 'formaction']

/** Returns an email for a sandboxed frame: it runs nothing, loads nothing, and its links lead nowhere. */
export function emailDocument(content: Message['content']): EmailDocument {
  // This document is inert: nothing in it runs or is loaded.
  const email = new DOMParser().parseFromString(typeof content === 'string' ? content : '', 'text/html')
  if (Array.isArray(content)) email.body.append(...content.map((block) => blockElement(email, block)))
  else if (typeof content === 'string' && !/<[a-z!/]/i.test(content)) email.body.style.whiteSpace = 'pre-wrap'
  const links = disarm(email)
  if (!email.documentElement.dir && !email.body.dir) email.body.dir = 'auto'
  const policy = email.createElement('meta')
  policy.httpEquiv = 'Content-Security-Policy'
  policy.content = POLICY
  const style = email.createElement('style')
  style.textContent = STYLE
  email.head.prepend(policy, style)
  return { html: `<!doctype html>${email.documentElement.outerHTML}`, links }
}

type EmailBlock = Exclude<Message['content'], string | undefined>[number]

function blockElement(email: Document, { type, content, url, styles }: EmailBlock): HTMLElement {
  const block = email.createElement('div')
  block.dir = 'auto'
  block.style.textAlign = styles?.textAlign ?? 'start'
  if (type === 'button') {
    const button = email.createElement('a')
    button.className = 'block-button'
    button.textContent = content
    if (url !== undefined) button.setAttribute('href', url)
    block.append(button)
  } else {
    const { body } = new DOMParser().parseFromString(content, 'text/html')
    block.append(...body.childNodes)
  }
  return block
}

/** Takes out what could not work in the frame. Returns where the links lead. */
function disarm(email: Document): EmailDocument['links'] {
  const links: EmailDocument['links'] = []
  for (const element of email.querySelectorAll(REMOVED)) element.remove()
  for (const element of email.querySelectorAll('*')) {
    for (const { name, value } of [...element.attributes]) {
      if (name === 'href' || name === 'xlink:href') {
        element.removeAttribute(name)
        if (!element.matches('a, area')) continue
        element.setAttribute('title', value)
        if (!element.matches('.block-button')) element.setAttribute('data-link', '')
        links.push({ text: element.textContent?.trim() || value, href: value })
      } else if (name.startsWith('on') || (LOADED.includes(name) && !/^data:image\//i.test(value))) {
        element.removeAttribute(name)
        if (name === 'src') element.setAttribute('title', value)
      }
    }
  }
  return links
}
