import { expect, test } from 'vitest'
import { directFetch } from '../../src/platform/direct-fetch.js'
import { listen } from '../remote/listen.js'

test.each(['DELETE', 'POST', 'OPTIONS'])(
  'a %s request sends the byte length of its body as `content-length`',
  async (method) => {
    await using server = await listen((request, response) => {
      response.end(request.headers['content-length'])
    })
    const response = await directFetch(server.url, { method, body: '"é"' })
    expect(await response.text()).toBe('4')
  }
)
