import { render } from 'preact'
import { readReport } from './data.js'
import './style.css'

const report = await readReport()
document.title = report.run.command ?? 'notification-mock'
render(<pre>{JSON.stringify(report, null, 2)}</pre>, document.getElementById('app') as HTMLElement)
