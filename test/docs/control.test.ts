import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { useMock } from '../support/mock.js'

/**
 * Runs what the documents show, each in its order and on one server, and compares what comes with what they say comes.
 * After a change that is meant: UPDATE_DOCS=1 npx vitest run test/docs/control.test.ts
 */
const DOCUMENTS = ['docs/control-routes.md', 'docs/measure-coverage.md', 'docs/read-the-report.md']
/** Names that the commands use. */
const NAMES = /^```sh\n(api=.*?)^```$/ms
/** Commands, and the block with what they print. */
const EXAMPLE = /^```sh\n(.*?)^```\n\n```(json|text)\n(.*?)^```$/gms

test.each(DOCUMENTS)('every command of %s prints what it says it prints', async (document) => {
  const mock = await useMock({ now: Date.parse('2026-02-18T10:00:00Z') })
  const text = readFileSync(document, 'utf8')
  const names = NAMES.exec(text)?.[1] ?? ''
  const seen: string[] = []
  for (const [, command = ''] of text.matchAll(EXAMPLE)) {
    const script = `${names}${command}`.replaceAll('4210', String(mock.port))
    const { stdout } = await promisify(execFile)('bash', ['-c', script])
    seen.push(shown(stdout, mock.port))
  }
  if (process.env.UPDATE_DOCS) {
    let next = 0
    const updated = text.replace(EXAMPLE, (_whole, command, language) => {
      return `\`\`\`sh\n${command}\`\`\`\n\n\`\`\`${language}\n${seen[next++]}\`\`\``
    })
    writeFileSync(document, updated)
  } else {
    expect(seen).toEqual([...text.matchAll(EXAMPLE)].map(([, , , output]) => output))
  }
})

test('the control documentation has an example of every control route', async () => {
  const mock = await useMock()
  const texts = DOCUMENTS.map((document) => readFileSync(document, 'utf8'))
  const examples = texts.flatMap((text) => [...text.matchAll(EXAMPLE)])
  const commands = examples.flatMap(([, command = '']) => command.split('\ncurl'))
  const { paths } = (await mock.get('/_mock/openapi.json')).json
  const missing = Object.entries<object>(paths).flatMap(([path, methods]) =>
    Object.keys(methods).filter((method) => {
      const shortened = path.replace('/_mock', '[$]mock').replace(/\{\w+\}/g, '[\\w-]+')
      const url = new RegExp(`${shortened}(?=[\\s"?]|$)`)
      return !commands.some((command) => methodOf(command) === method && url.test(command))
    })
  )
  expect(missing).toEqual([])
})

/** As curl sends it. */
function methodOf(command: string): string {
  return (/-X (\w+)/.exec(command)?.[1] ?? 'get').toLowerCase()
}

/** With what is another each time made the same, and what is long on several lines. */
function shown(output: string, port: number): string {
  const text = output
    .replaceAll('\r', '')
    .trim()
    .replaceAll(String(port), '4210')
    .replace(/"duration":[\d.]+/g, '"duration":1.5')
    .replace(/"arrived":"[^"]*"/g, '"arrived":"2026-02-18T10:01:00.000Z"')
    .replace(/"user-agent":"curl\/[^"]*"/g, '"user-agent":"curl"')
    .replace(/"(environmentId|organizationId)":"[0-9a-f]{24}"/g, '"$1":"66d5a0e97c9b1a0012ab0000"')
    .replace(/"apiKey":"[0-9a-f]{32}"/g, '"apiKey":"0123456789abcdef0123456789abcdef"')
  const lines = text
    .split('\n')
    .map((line) => (/^\{.*\}$/.test(line) ? broken(JSON.parse(line), '') : line))
  return `${lines.join('\n')}\n`
}

const WIDEST = 112

/** JSON that goes on on a new line only where it would be too wide. */
function broken(value: unknown, indent: string): string {
  const whole = JSON.stringify(value)
  if (whole.length + indent.length <= WIDEST || typeof value !== 'object' || value === null)
    return whole
  const deeper = `${indent}  `
  const parts = Object.entries(value).map(([name, each]) => {
    const label = Array.isArray(value) ? '' : `${JSON.stringify(name)}: `
    return `${deeper}${label}${broken(each, deeper)}`
  })
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  return `${open}\n${parts.join(',\n')}\n${indent}${close}`
}
