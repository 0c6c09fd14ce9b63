import type { Report } from '../../client/report.js'

/** Returns the report that stands in the page: as JSON, or compressed and in base64. */
export async function readReport(): Promise<Report> {
  const { textContent = '', dataset } = document.getElementById('report') as HTMLElement
  if (dataset.encoding !== 'deflate-raw') return JSON.parse(textContent ?? '')
  const bytes = Uint8Array.from(atob(textContent ?? ''), (letter) => letter.charCodeAt(0))
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'))
  return new Response(stream).json()
}
