import type { ComponentChildren } from 'preact'
import { useMemo, useRef } from 'preact/hooks'
import { SafeLink } from '../../parts/link.js'
import { emailDocument } from './email.js'
import { type Message, textOf } from './query.js'

/** What of a message its subscriber sees. */
export type Shown = Pick<Message, 'channel' | 'content'> & Partial<Pick<Message, 'subject' | 'title' | 'cta' | 'read'>>

/** A message as its subscriber sees it. */
export function Preview({ message }: { message: Shown }) {
  const { channel, content, subject, title } = message
  if (channel === 'email') return <Email content={content} />
  const text = <p dir="auto">{textOf(content)}</p>
  if (channel === 'push') {
    return (
      <Card icon title={title ?? subject}>
        {text}
      </Card>
    )
  }
  if (channel === 'in_app') {
    return (
      <Card title={subject} isUnread={message.read === false}>
        {text}
        <Buttons cta={message.cta} />
      </Card>
    )
  }
  return (
    <div class={`bubble is-${channel}`}>
      {subject && <b dir="auto">{subject}</b>}
      {text}
    </div>
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
    const measure = () => {
      element.style.height = `${Math.max(48, Math.ceil(root.getBoundingClientRect().height) + 2)}px`
    }
    measure()
    new ResizeObserver(measure).observe(root)
  }
  return (
    <figure class="email">
      <iframe
        ref={frame}
        title="The email"
        sandbox="allow-same-origin"
        srcdoc={html}
        referrerpolicy="no-referrer"
        onLoad={fit}
      />
      {links.length > 0 && (
        <figcaption>
          <h3>{links.length === 1 ? 'One link in it' : `${links.length} links in it`}</h3>
          <ul>
            {links.map(({ text, href }, index) => (
              <li key={`${index} ${href}`}>
                <bdi>{text}</bdi>:{' '}
                <SafeLink href={href}>
                  <bdi dir="ltr">{href}</bdi>
                </SafeLink>
              </li>
            ))}
          </ul>
        </figcaption>
      )}
    </figure>
  )
}

interface CardProps {
  icon?: boolean
  title: string | undefined
  isUnread?: boolean
  children: ComponentChildren
}

function Card({ icon, title, isUnread, children }: CardProps) {
  return (
    <article class={`notification card ${isUnread ? 'is-unread' : ''}`}>
      {icon && <span class="app-icon" />}
      <div>
        {title && <b dir="auto">{title}</b>}
        {children}
      </div>
    </article>
  )
}

function Buttons({ cta }: { cta: Shown['cta'] | undefined }) {
  const { buttons = [], status, result } = cta?.action ?? {}
  const url = cta?.data?.url
  return (
    <>
      {buttons.length > 0 && (
        <div class="line">
          {buttons.map(({ type, content, resultContent }, index) => {
            const isPressed = status === 'done' && type === result?.type
            return (
              <span key={`${index} ${content}`} class={`like-button is-${type}`} dir="auto">
                {isPressed ? `${resultContent ?? content} ✓` : content}
              </span>
            )
          })}
        </div>
      )}
      {url && (
        <p class="hint">
          Opens{' '}
          <SafeLink href={url}>
            <bdi dir="ltr">{url}</bdi>
          </SafeLink>
        </p>
      )}
    </>
  )
}
