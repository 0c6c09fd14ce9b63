import type { ComponentChildren } from 'preact'

/** A link to an address from the data, if it is one of the web or of mail; else only its text. */
export function SafeLink({ href, children }: { href: string; children: ComponentChildren }) {
  if (!/^(https?|mailto):/i.test(href)) return <span title={href}>{children}</span>
  return (
    <a href={href} target="_blank" rel="noopener noreferrer" title={href}>
      {children}
    </a>
  )
}
