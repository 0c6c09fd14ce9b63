import { Email } from './email.js'
import { Link } from './link.js'
import { textOf } from './message-text.js'
import type { Message } from './search-messages.js'

/** The fields of a message that the preview shows. */
export type PreviewedMessage = Pick<Message, 'channel' | 'content'> &
  Partial<Pick<Message, 'subject' | 'title' | 'cta' | 'read'>>

/** Shows a message as its subscriber sees it. */
export function MessagePreview({ message }: { message: PreviewedMessage }) {
  const { channel, content, subject, title = subject, cta, read } = message
  if (channel === 'email') return <Email content={content} />
  const card = `notification card ${read === false ? 'is-unread' : ''}`
  const classes = { sms: 'bubble is-good', chat: 'bubble card', in_app: card, push: card }
  const { buttons = [], status, result } = cta?.action ?? {}
  return (
    <article class={classes[channel]}>
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
