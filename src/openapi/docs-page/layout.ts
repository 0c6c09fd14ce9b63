import { type Content, html } from './html.js'

interface Layout {
  title: string
  /** The URL of the server's root, relative to the page, such as `./`. */
  root: string
  /** Links to the parts of the page. */
  contents: Content
  main: Content
}

/** Renders a page with a header and a table of contents. The page needs no scripts. */
export function layout({ title, root, contents, main }: Layout): string {
  const page = html`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="${root}docs/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="${root}docs/style.css">
<a class="skip" href="#content">Skip to the content</a>
<header><h1>${title}</h1>
<nav aria-label="Documents">
<a href="${root}docs">API</a>
<a href="${root}">Inspector</a>
<a href="${root}openapi.json">OpenAPI</a>
<a href="${root}_mock/openapi.json">OpenAPI of the control routes</a>
<a href="${root}llms.txt">Manual</a>
</nav></header>
<div class="columns"><nav aria-label="Contents">${contents}</nav>
<main id="content" tabindex="-1">
${main}
</main></div>
</html>
`
  return page.text
}
