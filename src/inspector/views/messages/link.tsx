/** Shows where a link leads. Only links to the web and to mail can be followed. */
export function Link({ text, href }: { text: string; href: string }) {
  const isSafe = /^(https?|mailto):/i.test(href)
  return (
    <p class="hint">
      <bdi>{text}</bdi>:{' '}
      {isSafe ? (
        <a dir="ltr" href={href} target="_blank" rel="noopener noreferrer">
          {href}
        </a>
      ) : (
        <span dir="ltr">{href}</span>
      )}
    </p>
  )
}
