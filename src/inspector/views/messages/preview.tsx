import { useMemo, useRef } from 'preact/hooks'
import { SafeLink } from '../../parts/link.js'
import { emailDocument } from './email.js'
import { type Message, textOf } from './query.js'

/** What of a message its subscriber sees. */
export type Shown = Pick<Message, 'channel' | 'content'> & Partial<Pick<Message, 'subject' | 'title' | 'cta' | 'read'>>

const BUBBLES: Partial<Record<string, string>> = { sms: 'bubble is-good', chat: 'bubble card' }

/** A message as its subscriber sees it. */
export function Preview({ message }: { message: Shown }) {
  const { channel, content, subject, title = subject, cta, read } = message
  if (channel === 'email') return <Email content={content} />
  const card = `notification card ${read === false ? 'is-unread' : ''}`
  const { buttons = [], status, result } = cta?.action ?? {}
  return (
    <article class={BUBBLES[channel] ?? card}>
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

function Email({ content }: { content: Message['content'] | undefined }) {
  const { html, links } = useMemo(() => emailDocument(content), [content])
  const frame = useRef<HTMLIFrameElement>(null)
  // It has no scripts, so the page measures it: as high as its content is at this width.
  const fit = () => {
    const element = frame.current
    const root = element?.contentDocument?.documentElement
    if (!element || !root) return
    new ResizeObserver(() => {
      element.style.height = `${Math.max(48, Math.ceil(root.getBoundingClientRect().height) + 2)}px`
    }).observe(root)
  }
  return (
    <figure class="email">
      <iframe ref={frame} title="The email" sandbox="allow-same-origin" srcdoc={html} onLoad={fit} />
      {links.map(([text, href], index) => (
        <Link key={index} text={text} href={href} />
      ))}
    </figure>
  )
}

function Link({ text, href }: { text: string; href: string }) {
  return (
    <p class="hint">
      <bdi>{text}</bdi>:{' '}
      <SafeLink href={href}>
        <bdi dir="ltr">{href}</bdi>
      </SafeLink>
    </p>
  )
}
