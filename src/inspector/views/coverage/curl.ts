import type { AttachedEnvironment, CoverageItem } from '../../../client/index.js'
import { quoted } from '../../parts/curl.js'

type CoverageRequest = CoverageItem['requests'][number]

/** Returns commands for a shell that send requests to an environment, one after the other. */
export function curlCommands(
  requests: readonly CoverageRequest[],
  env: Pick<AttachedEnvironment, 'url' | 'headers'>
): string {
  const lines = requests.map((request) => {
    const { method, path, headers = {}, body, bodyLength, withoutKey, atOnce } = request
    const sent = {
      ...(!withoutKey && env.headers),
      ...headers,
      ...(body !== undefined && { 'content-type': 'application/json' })
    }
    const words = [
      'curl -i -X',
      method,
      ...Object.entries(sent).flatMap(([name, value]) => ['-H', quoted(`${name}: ${value}`)]),
      ...(body === undefined ? [] : ['--data-raw', quoted(body)]),
      ...(bodyLength === undefined ? [] : ['--data-binary @-']),
      quoted(`${env.url}${path}`)
    ]
    const input = bodyLength === undefined ? '' : `head -c ${bodyLength} /dev/zero | `
    return `${input}${words.join(' ')}${atOnce ? ' &' : ''}`
  })
  return [...lines, ...(requests.some(({ atOnce }) => atOnce) ? ['wait'] : [])].join('\n')
}
