import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { deflateRawSync } from 'node:zlib'
import { StartError } from '../domain/errors.js'
import { lazily } from '../domain/lazily.js'
import { packageRoot } from './package.js'
import { replaceFileSync } from './replace-file.js'

/**
 * Returns the HTML of a report without its data. Only the first call reads the template's file, so
 * a process that calls this function early can write its report even if the package is reinstalled
 * or rebuilt later. Throws `StartError` if the file can't be read.
 */
export const reportTemplate = lazily(() => {
  const file = join(packageRoot(), 'dist/inspector/report.html')
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    const fix = 'install the package again; in a checkout of the source, run npm run build'
    throw new StartError(`can't read ${file}, which every report needs (${code}): ${fix}`, {
      cause
    })
  }
})

const PLACEHOLDER = '<script id="report" type="application/json"></script>'

/**
 * Writes a report with this data as an HTML file that only its owner can read. Throws `StartError`
 * if the template can't be read, and the system error if the report can't be written.
 */
export function writeReport(file: string, data: object): void {
  const content = deflateRawSync(JSON.stringify(data)).toString('base64')
  const attributes = 'id="report" type="text/plain" data-encoding="deflate-raw"'
  const html = reportTemplate().replace(PLACEHOLDER, `<script ${attributes}>${content}</script>`)
  replaceFileSync(file, html, 0o600)
}
