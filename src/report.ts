import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { deflateRawSync } from 'node:zlib'
import type { Report } from './client/report.js'
import { packageRoot } from './core/package.js'
import { replaceFileSync } from './core/replace-file.js'

/** Where the data go in the page that the build makes. */
const PLACE = '<script id="report" type="application/json"></script>'

/**
 * Writes a report as one HTML file, which opens without a network. Only its owner can read it. Throws the error of the
 * system if it can't be written, and follows no link.
 */
export function writeReport(file: string, report: Report): void {
  const page = readFileSync(join(packageRoot(), 'dist/inspector/report.html'), 'utf8')
  const data = deflateRawSync(JSON.stringify(report)).toString('base64')
  const script = `<script id="report" type="text/plain" data-encoding="deflate-raw">${data}</script>`
  replaceFileSync(file, page.replace(PLACE, script), 0o600)
}
