/** Sends our bytes from memory with nothing but Node: `node node-http.mjs <port> <folder of answers>`. */
import { createServer } from 'node:http'
import { answersIn, JSON_TYPE } from './answers.mjs'

const [port, folder] = process.argv.slice(2)
const { list, step, primary } = answersIn(folder)

createServer((request, response) => {
  const body = request.method === 'POST' ? primary : request.url.startsWith('/v2/') ? step : list
  response.writeHead(200, { 'content-type': JSON_TYPE, 'content-length': body.length }).end(body)
}).listen(Number(port), '127.0.0.1')
