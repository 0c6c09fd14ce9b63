import { hash } from 'node:crypto'
import type { FastifyPluginAsync } from 'fastify'
import { VERSION } from '../core/package.js'
import { JSON_TYPE } from '../http/errors.js'

/** Where to go from here, and in which words the page names it. */
const LINKS = {
  docs: ['/docs', 'the documentation, to read and to try'],
  openapi: ['/openapi.json', 'the OpenAPI document of the service'],
  control: ['/_mock/openapi.json', 'the OpenAPI document of the control routes'],
  health: ['/health', 'whether the server is ready'],
  manual: ['/llms.txt', 'a summary of the manual']
} as const

/**
 * Serves what the server is and where to go on: as JSON, or as a page where the Accept header names HTML, as browsers do.
 * It is there from the first moment, so that whatever waits for the bare address of a server finds this one ready.
 */
export const startPage: FastifyPluginAsync = async (app) => {
  app.get('/', (request, reply) => {
    reply.header('vary', 'Accept')
    if (!/\btext\/html\b/i.test(request.headers.accept ?? '')) return reply.type(JSON_TYPE).send(SUMMARY)
    return reply.headers(PAGE_HEADERS).type('text/html; charset=utf-8').send(PAGE)
  })
}

const paths = Object.entries(LINKS).map(([name, [path]]) => [name, path])
const SUMMARY = JSON.stringify({ name: 'notification-mock', version: VERSION, ...Object.fromEntries(paths) })

const STYLE = 'body { font: 16px/1.6 system-ui, sans-serif; max-width: 40em; margin: 3em auto; padding: 0 1em }'

const PAGE_HEADERS = {
  'content-security-policy': [
    "default-src 'none'",
    `style-src 'sha256-${hash('sha256', STYLE, 'base64')}'`,
    "img-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'"
  ].join('; '),
  'x-content-type-options': 'nosniff'
}

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>notification-mock</title>
<link rel="icon" type="image/png" href="/docs/static/favicon-32x32.png">
<style>${STYLE}</style>
</head>
<body>
<h1>notification-mock ${VERSION}</h1>
<ul>
${Object.values(LINKS)
  .map(([path, words]) => `<li><a href="${path}">${path}</a>: ${words}</li>`)
  .join('\n')}
</ul>
</body>
</html>
`
