-- A script for wrk. It cycles through the paths of BENCH_PATHS (separated by spaces) with the method BENCH_METHOD, and
-- prints the result as one line of JSON. Without BENCH_PATHS it sends the path of wrk's command line, which is cheaper.
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
      for place, path in ipairs(paths) do
        requests[place] = wrk.format(nil, path)
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
