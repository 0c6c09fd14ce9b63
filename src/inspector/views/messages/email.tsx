import { useMemo } from 'preact/hooks'
import { Link } from './link.js'
import type { Message } from './search-messages.js'

type Content = Message['content']

const MIN_HEIGHT = 48
const BORDERS = 2

/** Shows an email in a sandboxed frame and lists its links below. */
export function Email({ content }: { content: Content | undefined }) {
  const { html, links } = useMemo(() => toDocument(content), [content])
  return (
    <figure class="email">
      <iframe title="The email" sandbox="allow-same-origin" srcdoc={html} onLoad={fitHeight} />
      {links.map(({ text, href }, index) => (
        <Link key={index} text={text} href={href} />
      ))}
    </figure>
  )
}

/**
 * Keeps a frame as tall as its content. The inspector measures the content, because scripts in the
 * frame don't run.
 */
function fitHeight({ currentTarget: frame }: { currentTarget: HTMLIFrameElement }) {
  const root = frame.contentDocument?.documentElement
  const observer = new ResizeObserver(() => {
    const height = Math.ceil(root?.getBoundingClientRect().height ?? 0) + BORDERS
    frame.style.height = `${Math.max(MIN_HEIGHT, height)}px`
  })
  if (root) observer.observe(root)
}

/**
 * The content security policy of an email's frame. This policy, the inspector's own policy and the
 * frame's sandbox prevent an email from running scripts or loading remote content. Removing the
 * `REMOVED_ELEMENTS` isn't needed for security, and only avoids console errors and empty frames.
 */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"

const STYLE = `
  :root {
    color-scheme: light; background: #fff; color: #1a1d24; font: 14px/1.5 system-ui, sans-serif;
  }
  body { margin: 12px; overflow-wrap: anywhere; }
  img { max-width: 100%; }
  a { color: #4338ca; text-decoration: underline; }
  .block-button {
    display: inline-block; padding: 8px 16px; border-radius: 6px; background: #4338ca; color: #fff;
  }
`

const HEAD =
  `<meta http-equiv="Content-Security-Policy" content="${POLICY}">` + `<style>${STYLE}</style>`

const REMOVED_ELEMENTS = 'script, template, base, meta, link, iframe, object, embed'

/** Converts an email to an HTML document with disabled links. Also returns the original links. */
function toDocument(content: Content = '') {
  const source = typeof content === 'string' ? content : content.map(blockToHtml).join('')
  // Parsing is safe, because a parsed document runs no scripts and loads no resources.
  const { documentElement, body } = new DOMParser().parseFromString(source, 'text/html')
  if (!/<[a-z!/]/i.test(source)) body.style.whiteSpace = 'pre-wrap'
  body.dir ||= documentElement.dir || 'auto'
  for (const element of documentElement.querySelectorAll(REMOVED_ELEMENTS)) element.remove()
  const links = [...documentElement.querySelectorAll('*')].flatMap(disableUrls)
  return { html: `<!doctype html>${HEAD}${documentElement.outerHTML}`, links }
}

/**
 * Moves an element's link or remote source to its `title`, so that the link can't be followed and
 * the source isn't loaded. Returns the element's links.
 */
function disableUrls(element: Element): { text: string; href: string }[] {
  return [...element.attributes].flatMap(({ name, value }) => {
    const isLink = name === 'href' || name === 'xlink:href'
    const isRemoteSource = name === 'src' && !value.startsWith('data:')
    if (!isLink && !isRemoteSource) return []
    element.removeAttribute(name)
    element.setAttribute('title', value)
    return isLink ? [{ text: element.textContent?.trim() || value, href: value }] : []
  })
}

/** Converts a block from the email editor to HTML. */
function blockToHtml({
  type,
  content,
  url = '',
  styles
}: Exclude<Content, string | undefined>[number]): string {
  const link = `<a class="block-button" href="${url.replaceAll('"', '&quot;')}">${content}</a>`
  const alignment = styles?.textAlign ?? 'start'
  const inner = type === 'text' ? content : link
  return `<div dir="auto" style="text-align: ${alignment}">${inner}</div>`
}
