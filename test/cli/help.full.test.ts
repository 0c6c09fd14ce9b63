import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createTempFolder, runCommand, startCommand } from '../support/process.js'
import { runHere } from './here.js'

test('the examples in the help work', async () => {
  const text = (await runHere(['--help'])).stdout
  const examples = [...text.matchAll(/^ {2}\$ (.*?) {2,}/gm)].map(([, example = '']) => example)
  expect(examples.length).toBeGreaterThanOrEqual(5)
  const cwd = createTempFolder()
  writeFileSync(join(cwd, 'shop.yaml'), 'environments: [{ name: Shop }]')
  for (const example of examples) {
    const words = example.split(' ')
    const [variable, value] = words[0]?.includes('=') ? (words.shift() ?? '').split('=') : []
    expect(words.shift()).toBe('notification-mock')
    const env = variable && value ? { [variable]: value } : {}
    if (['seed', 'exec'].includes(words[0] ?? '')) {
      expect(await runCommand(words, { cwd, env })).toMatchObject({ code: 0 })
    } else {
      // Use a free port, because another process may use the port in the example.
      const { child, ended } = await startCommand([...words, '--port', '0'], { cwd, env })
      child.kill()
      expect(await ended).toMatchObject({ code: 0 })
    }
  }
})
