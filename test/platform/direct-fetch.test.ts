import { expect, test } from 'vitest'
import { directFetch } from '../../src/platform/direct-fetch.js'
import { listen } from '../remote/listen.js'

test.each(['DELETE', 'POST', 'OPTIONS'])(
  'sends the length of the body in a %s request',
  async (method) => {
    await using server = await listen((request, response) => {
      response.end(request.headers['content-length'])
    })
    const response = await directFetch(server.url, { method, body: '"é"' })
    expect(await response.text()).toBe('4')
  }
)
