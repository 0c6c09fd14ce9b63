import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { givenDependent } from '../support/process.js'

const PROGRAM = `
const { connect, MockError } = require('notification-mock/client')
const { createMock } = require('notification-mock')
createMock().then(async (mock) => {
  const environment = await connect(mock.url).environment()
  const { status } = await fetch(mock.url + '/v1/messages', { headers: environment.headers })
  const refused = await connect(mock.url).attach('foreign-key').state().catch((error) => error)
  console.log(status, refused instanceof MockError && refused.status)
  await mock.close()
})
try {
  require('notification-mock/vitest')
} catch ({ code }) {
  console.log(code)
}
`

test('a program can load the library and the client by require, and the fixtures of vitest by import only', async () => {
  const cwd = await givenDependent({})
  const { status, stdout, stderr } = spawnSync(process.execPath, ['-e', PROGRAM], { cwd, encoding: 'utf8' })
  expect({ status, stdout, stderr }).toEqual({
    status: 0,
    stdout: 'ERR_PACKAGE_PATH_NOT_EXPORTED\n200 401\n',
    stderr: ''
  })
})
