/** Shows a link with its URL. Only web and mail links can be clicked. */
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
