import type { AttachedEnvironment, CoverageItem } from '../../../client/index.js'
import { curlOf } from '../../parts/curl.js'

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
    const command = curlOf({
      method,
      url: `${env.url}${path}`,
      headers: sent,
      body,
      options: ['-i', ...(bodyLength === undefined ? [] : ['--data-binary', '@-'])]
    })
    const input = bodyLength === undefined ? '' : `head -c ${bodyLength} /dev/zero | `
    return `${input}${command}${atOnce ? ' &' : ''}`
  })
  return [...lines, ...(requests.some(({ atOnce }) => atOnce) ? ['wait'] : [])].join('\n')
}
