import type { ComponentChildren } from 'preact'
import { useMemo } from 'preact/hooks'
import { SafeLink } from '../../parts/link.js'
import { emailDocument } from './email.js'
import type { Message } from './query.js'
import { recipientOf, textOf } from './summary.js'

/** A message as its subscriber sees it. */
export function Preview({ message }: { message: Message }) {
  const Shown = PREVIEWS[message.channel]
  return (
    <div class="preview">
      {message.status !== 'sent' && (
        <p class={message.status === 'error' ? 'error-note' : 'note'} dir="auto">
          <strong>{message.status}</strong> {message.errorText ?? 'without a text'}
          {message.errorId && <code>{message.errorId}</code>}
        </p>
      )}
      <Shown message={message} />
    </div>
  )
}

const PREVIEWS: Record<Message['channel'], (props: { message: Message }) => ComponentChildren> = {
  email: EmailPreview,
  sms: BubblePreview,
  chat: BubblePreview,
  in_app: CardPreview,
  push: PushPreview
}

function EmailPreview({ message }: { message: Message }) {
  const { html, links } = useMemo(() => emailDocument(message.content), [message.content])
  return (
    <figure class="email">
      <figcaption>
        <p>
          <span class="hint">To </span>
          <bdi>{recipientOf(message)}</bdi>
        </p>
        <p class="subject" dir="auto">
          {message.subject}
        </p>
      </figcaption>
      <iframe title="The email" sandbox="" srcdoc={html} referrerpolicy="no-referrer" />
      {links.length > 0 && (
        <details>
          <summary>
            {links.length} {links.length === 1 ? 'link' : 'links'} in it
          </summary>
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
        </details>
      )}
    </figure>
  )
}

function BubblePreview({ message }: { message: Message }) {
  return (
    <figure class="conversation">
      <figcaption class="hint">
        To <bdi>{recipientOf(message)}</bdi>
        {message.providerId && ` by ${message.providerId}`}
      </figcaption>
      <div class={`bubble is-${message.channel}`}>
        {message.subject && (
          <p class="subject" dir="auto">
            {message.subject}
          </p>
        )}
        <p dir="auto">{textOf(message.content)}</p>
      </div>
    </figure>
  )
}

function CardPreview({ message }: { message: Message }) {
  const { cta, read, subject, content } = message
  const buttons = cta.action?.buttons ?? []
  const pressed = cta.action?.result?.type
  return (
    <article class={read ? 'inbox-card' : 'inbox-card is-unread'}>
      {subject && (
        <p class="subject" dir="auto">
          {subject}
        </p>
      )}
      <p dir="auto">{textOf(content)}</p>
      {buttons.length > 0 && (
        <div class="row">
          {buttons.map(({ type, content, resultContent }, index) => {
            const isPressed = cta.action?.status === 'done' && type === pressed
            return (
              <span key={`${index} ${content}`} class={`like-button is-${type}`} dir="auto">
                {isPressed ? (resultContent ?? content) : content}
                {isPressed && ' ✓'}
              </span>
            )
          })}
        </div>
      )}
      {cta.data?.url && (
        <p class="hint">
          Opens{' '}
          <SafeLink href={cta.data.url}>
            <bdi dir="ltr">{cta.data.url}</bdi>
          </SafeLink>
        </p>
      )}
    </article>
  )
}

function PushPreview({ message }: { message: Message }) {
  const { title, subject, content, deviceTokens = [] } = message
  return (
    <figure class="device">
      <div class="push">
        <span class="app-icon" aria-hidden="true" />
        <div>
          <p class="subject" dir="auto">
            {title ?? subject}
          </p>
          <p dir="auto">{textOf(content)}</p>
        </div>
      </div>
      <figcaption class="hint">
        To <bdi>{recipientOf(message)}</bdi>,{' '}
        {deviceTokens.length === 1 ? 'one device' : `${deviceTokens.length} devices`}
      </figcaption>
    </figure>
  )
}
