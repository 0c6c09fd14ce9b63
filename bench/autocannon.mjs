/**
 * Load by autocannon, for machines without wrk, in a process of its own: `node bench/autocannon.mjs <JSON>`, of
 * { url, method, paths, headers, connections, seconds }. Prints the outcome as one line of JSON, as load.lua does.
 */
import autocannon from 'autocannon'

const { url, method, paths, headers, connections, seconds } = JSON.parse(process.argv[2])
let turn = -1
const result = await autocannon({
  url,
  connections,
  duration: seconds,
  requests: [
    {
      method,
      headers,
      // The turn goes round all connections, where a list of requests would go round each.
      setupRequest: (request) => {
        turn = (turn + 1) % paths.length
        return { ...request, path: paths[turn] }
      }
    }
  ]
})
console.log(
  JSON.stringify({
    requests: result.requests.total,
    seconds: result.duration,
    p50: result.latency.p50,
    p99: result.latency.p99,
    failed: result.errors + result.timeouts + result.non2xx
  })
)
