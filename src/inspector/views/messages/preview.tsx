import { useMemo } from 'preact/hooks'
import { type Message, textOf } from './query.js'

/** What of a message its subscriber sees. */
export type Shown = Pick<Message, 'channel' | 'content'> &
  Partial<Pick<Message, 'subject' | 'title' | 'cta' | 'read'>>

/** A message as its subscriber sees it. */
export function Preview({ message }: { message: Shown }) {
  const { channel, content, subject, title = subject, cta, read } = message
  if (channel === 'email') return <Email content={content} />
  const card = `notification card ${read === false ? 'is-unread' : ''}`
  const look = { sms: 'bubble is-good', chat: 'bubble card', in_app: card, push: card }[channel]
  const { buttons = [], status, result } = cta?.action ?? {}
  return (
    <article class={look}>
      <div>
        {title && <b dir="auto">{title}</b>}
        <p dir="auto">{textOf(content)}</p>
        {buttons.length > 0 && (
          <p class="line">
            {buttons.map(({ type, content, resultContent = content }) => (
              <span key={type} class={`button ${type}`} dir="auto">
                {status === 'done' && type === result?.type ? `${resultContent} ✓` : content}
              </span>
            ))}
          </p>
        )}
        {cta?.data?.url && <Link text="Opens" href={cta.data.url} />}
      </div>
    </article>
  )
}

/** Where a link leads: one of the web or of mail can be followed. */
function Link({ text, href }: { text: string; href: string }) {
  const isSafe = /^(https?|mailto):/i.test(href)
  const Tag = isSafe ? 'a' : 'span'
  return (
    <p class="hint">
      <bdi>{text}</bdi>:{' '}
      <Tag dir="ltr" {...(isSafe && { href, target: '_blank', rel: 'noopener noreferrer' })}>
        {href}
      </Tag>
    </p>
  )
}

function Email({ content }: { content: Message['content'] | undefined }) {
  const { html, links } = useMemo(() => emailDocument(content), [content])
  // It has no scripts, so the page measures it: as high as its content is at this width.
  const fit = ({ currentTarget: frame }: { currentTarget: HTMLIFrameElement }) => {
    const root = frame.contentDocument?.documentElement
    const observer = new ResizeObserver(() => {
      frame.style.height = `${Math.max(48, Math.ceil(root?.getBoundingClientRect().height ?? 0) + 2)}px`
    })
    if (root) observer.observe(root)
  }
  return (
    <figure class="email">
      <iframe title="The email" sandbox="allow-same-origin" srcdoc={html} onLoad={fit} />
      {links.map((link, index) => (
        <Link key={index} {...link} />
      ))}
    </figure>
  )
}

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
function emailDocument(content: Message['content'] = '') {
  const written = typeof content === 'string' ? content : content.map(blockHtml).join('')
  // This document is inert: nothing in it runs or is loaded.
  const { documentElement, body } = new DOMParser().parseFromString(written, 'text/html')
  if (!/<[a-z!/]/i.test(written)) body.style.whiteSpace = 'pre-wrap'
  body.dir ||= documentElement.dir || 'auto'
  for (const element of documentElement.querySelectorAll(
    'script, template, base, meta, link, iframe, object, embed'
  ))
    element.remove()
  const links: { text: string; href: string }[] = []
  for (const element of documentElement.querySelectorAll('*')) {
    for (const { name, value } of [...element.attributes]) {
      const isLink = name === 'href' || name === 'xlink:href'
      if (!isLink && (name !== 'src' || value.startsWith('data:'))) continue
      element.removeAttribute(name)
      element.setAttribute('title', value)
      if (isLink) links.push({ text: element.textContent?.trim() || value, href: value })
    }
  }
  return { html: `<!doctype html>${HEAD}${documentElement.outerHTML}`, links }
}

function blockHtml({
  type,
  content,
  url = '',
  styles
}: Exclude<Message['content'], string | undefined>[number]) {
  const link = `<a class="block-button" href="${url.replaceAll('"', '&quot;')}">${content}</a>`
  return `<div dir="auto" style="text-align: ${styles?.textAlign ?? 'start'}">${type === 'text' ? content : link}</div>`
}
