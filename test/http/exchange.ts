import { EventEmitter, once } from 'node:events'
import { connect, type Socket } from 'node:net'

export interface RawAnswer {
  status: number
  headers: Headers
  text: string
}

/** Bytes to send unchanged. A string is encoded as Latin-1. */
export type Bytes = string | Buffer

/** A TCP connection for malformed requests, which `fetch` can't send. It parses the responses. */
export interface Connection {
  socket: Socket
  send(bytes: Bytes): void
  /** Returns the next response, or undefined if the server has closed the connection. */
  answer(method?: string): Promise<RawAnswer | undefined>
}

export async function connectTo({ port }: { port: number }): Promise<Connection> {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  const news = new EventEmitter()
  let received = ''
  let ended = false
  socket.on('data', (data) => {
    received += data.toString('latin1')
    news.emit('news')
  })
  for (const event of ['end', 'close', 'error']) {
    socket.on(event, () => {
      ended = true
      news.emit('news')
    })
  }

  return {
    socket,
    send(bytes) {
      socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes)
    },
    async answer(method = 'GET') {
      for (;;) {
        const found = firstAnswer(received, method)
        if (found) {
          received = received.slice(found.length)
          return found.answer
        }
        if (ended) {
          if (received === '') return undefined
          throw new Error(`the connection was closed in the middle of a response: ${received}`)
        }
        await once(news, 'news')
      }
    }
  }
}

/** Sends one request and closes the connection after the response. */
export async function exchange(
  server: { port: number },
  bytes: Bytes,
  method?: string
): Promise<RawAnswer> {
  const connection = await connectTo(server)
  connection.send(bytes)
  const answer = await connection.answer(method)
  connection.socket.destroy()
  if (!answer) throw new Error('the server closed the connection without a response')
  return answer
}

function firstAnswer(
  received: string,
  method: string
): { answer: RawAnswer; length: number } | undefined {
  const end = received.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const [statusLine = '', ...lines] = received.slice(0, end).split('\r\n')
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1])
  const headers = new Headers(
    lines.map((line) => line.split(/: ?(.*)/s).slice(0, 2) as [string, string])
  )
  const size = method === 'HEAD' ? 0 : Number(headers.get('content-length') ?? 0)
  const length = end + 4 + size
  if (received.length < length) return undefined
  const text = Buffer.from(received.slice(end + 4, length), 'latin1').toString()
  return { answer: { status, headers, text }, length }
}
