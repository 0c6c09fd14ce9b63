import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { lazily } from '../domain/lazily.js'
import { packageRoot } from './package.js'

/**
 * Returns the HTML of a report without its data. The file is read only once, so that a report can
 * still be written if the package is installed or built again in the meantime.
 */
export const reportTemplate = lazily(() =>
  readFileSync(join(packageRoot(), 'dist/inspector/report.html'), 'utf8')
)
