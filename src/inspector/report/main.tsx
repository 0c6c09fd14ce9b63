import { render } from 'preact'
import { ToastProvider } from '../parts/toast.js'
import { readReport } from './data.js'
import { RunReport } from './report.js'
import '../style.css'
import './style.css'

const report = await readReport()
document.title = report.run.command ?? 'notification-mock'
render(
  <ToastProvider>
    <RunReport report={report} />
  </ToastProvider>,
  document.getElementById('app') as HTMLElement
)
