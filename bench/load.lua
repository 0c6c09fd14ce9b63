-- A script for wrk. It sends requests with the method BENCH_METHOD to the paths in BENCH_PATHS, one
-- after the other, and prints the result as one line of JSON. BENCH_PATHS is separated by spaces.
-- Without it, the script requests the path in wrk's command line, which takes less time.
wrk.method = os.getenv('BENCH_METHOD') or 'GET'

local paths = {}
for path in string.gmatch(os.getenv('BENCH_PATHS') or '', '%S+') do
  table.insert(paths, path)
end

if #paths > 0 then
  local requests = {}
  local turn = 0

  function request()
    if #requests == 0 then
      for index, path in ipairs(paths) do
        requests[index] = wrk.format(nil, path)
      end
    end
    turn = turn % #requests + 1
    return requests[turn]
  end
end

function done(summary, latency)
  local errors = summary.errors
  local function milliseconds(share)
    return summary.requests > 0 and latency:percentile(share) / 1000 or 0
  end
  io.write(string.format(
    '\n{"requests":%d,"seconds":%.6f,"p50":%.3f,"p99":%.3f,"failed":%d}\n',
    summary.requests,
    summary.duration / 1e6,
    milliseconds(50),
    milliseconds(99),
    errors.connect + errors.read + errors.write + errors.timeout + errors.status
  ))
end
