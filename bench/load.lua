-- For wrk: sends the requests of BENCH_METHOD and BENCH_PATHS (separated by spaces) in turn, and tells the outcome as
-- one line of JSON. Without BENCH_PATHS it sends the one of wrk's own command line, which costs it less.
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
