import { render } from 'preact'
import type { Report } from '../../client/report.js'
import { RunReport } from './report.js'
import '../style.css'
import './style.css'

/** Returns the report that stands in the page: as JSON, or compressed and in base64. */
async function readReport(): Promise<Report> {
  const { textContent, dataset } = document.getElementById('report') as HTMLElement
  const text = textContent ?? ''
  if (dataset.encoding !== 'deflate-raw') return JSON.parse(text)
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0))
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'))).json()
}

const report = await readReport()
document.title = report.run.command ?? 'notification-mock'
render(<RunReport report={report} />, document.getElementById('app') as HTMLElement)
